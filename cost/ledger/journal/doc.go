// Package journal keeps rows of a ledger that are on their way to its store in two files beside it, so that a sudden end of the process
// loses none of them, and no call need wait for a disk.
//
// The rows of one batch are in one file, those of the next in the other: when a batch begins, the one before the last is in the store, and
// its file is written anew. Nothing is ever flushed to the disk. Whoever opens the ledger next commits what the files have and the store
// has not, see [Read].
//
// A file is frames, one after the other from its beginning; what follows the last valid one is what is left of an earlier batch:
//
//	checksum   uint32, little-endian: CRC-32C of all that follows
//	length     uint32, little-endian: of the rows
//	ledger     uint64, little-endian: which ledger the rows are of
//	number     uint64, little-endian: of their batch
//	slot       uint16, little-endian: of its writer
//	format     uint16, little-endian: of the rows, so that another version of this program does not take them for others
//	rows       by table: how many, and their fields in order; numbers as varints, texts after their length
package journal
