package bpe

import "syscall"

// mapMemory returns so many zeros of the system's memory, in large pages where there are any; nil: it has none.
func mapMemory(size int) []byte {
	mapped, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil
	}
	_ = syscall.Madvise(mapped, hugePages) // a system that has none does without
	return mapped
}

// hugePages is MADV_HUGEPAGE of madvise(2).
const hugePages = 14
