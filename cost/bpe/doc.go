// Package bpe counts tokens as OpenAI's models do, with the vocabularies of their tokenizer tiktoken.
//
//	enc, err := bpe.New("o200k_base")
//	n := enc.Count("hello world") // 2
//
// Counts equal those of tiktoken's encode_ordinary for every text that is valid UTF-8: the names of special tokens
// ("<|endoftext|>") are ordinary text here, because in a caller's prompt they are. Bytes that are not valid count as
// U+FFFD, one for each, as Go's JSON decoder reads them. No network is used; the vocabularies are part of the program.
//
// # How it counts
//
// A vocabulary is a list of byte strings, the tokens, beginning with the 256 single bytes. Each of the others is made of
// two that stand before it. Its pattern splits a text into pieces, words mostly (split_*.go); pieces never influence each
// other. A piece that is a token counts as one, which most are. Any other is merged: of all neighbours, beginning with
// the single bytes, those two become one whose token stands first in the list, until no two neighbours are a token.
//
// Done as it is said, that takes quadratic time, and a piece can be as long as the text: 100 kB of one letter take
// seconds. But what merging ends with can be found without merging. Two tokens go together if merging the bytes of both
// gives those two again, and a row of tokens is what merging makes of a text exactly if all its neighbours go together.
// There is only one such row. So it is enough to go from left to right, take the longest token that goes with the one
// before it, and where there is none go back and take a shorter one (piece.go).
//
// An example, the piece "tokenfares" in o200k_base:
//
//	token              the longest token at the beginning
//	token|fare         the longest in what is left; the two go together
//	token|fare|s       do not: merging "fares" gives fa|res, as r+e and re+s stand before f+are in the list
//	token|far          so back, and a shorter one
//	token|far|es       do not go together, nor do far|e; back again
//	token|fa           goes together
//	token|fa|res       goes together, and that is the end: 3 tokens
//
// Whether two go together is found by undoing their merges from the last to the first and looking at the pairs that meet
// at the seam: if one of them is a token that stands before the merge just undone, merging would have made that instead.
//
// # Time and memory
//
// The time is linear. A place at which no token led on is marked and never tried again, tokens are at most 128 bytes
// long, and the splitters look at each byte a bounded number of times. Random letters and bytes take some ten times as long
// as English prose; the hardest texts known, runs of several signs in turns, up to thirty times.
//
// The longest token at a place is looked up, not searched for: those of up to 8 bytes by their bytes, longer ones in a short
// list of those that begin with the same 8, where runs of one byte are found by their length (lookup.go), and small filters
// answer most questions with no before a large table is touched (filter.go). Most pairs of tokens need no look at all:
// behind the longest token at a place there is nothing it could have been merged with. In a long piece, which token was
// tried next behind another is remembered (memory.go).
//
// Tables are made from the embedded vocabularies when an encoding is first asked for: about 12 MB for o200k_base and half
// of that for cl100k_base. That is more than a processor's caches hold, so the pieces that were there of late are kept apart, in
// 256 kB for each processor (familiar.go). Where a text is ASCII, o200k_base and cl100k_base split 64 bytes of it at a time
// (block.go), and pieces are looked up by the hundred (pieces.go).
//
// Counting allocates nothing in the steady state, however long the text: a piece of more than 64
// bytes that is no token needs memory, but no more than 60 kB, and leaves it to the next; the collector takes what is left
// unused (memory.go). Text that is not valid UTF-8 is put right in parts, with memory that is used again likewise, unless a
// single piece is longer than a part (invalid.go).
//
// The counting without merging is from Hendrik van Antwerpen and Alexander Neubeck, "So many tokens, so little time",
// GitHub blog, December 2024.
package bpe
