package harness

import (
	"bytes"
	"fmt"
	"os"
	"testing"
)

// RSS is how much of the program's memory is resident, in bytes. Linux only; 0 elsewhere.
func (p *Program) RSS(t testing.TB) int64 {
	t.Helper()
	return p.status(t, "VmRSS:")
}

// PeakRSS is the most memory the program has had resident since it began, or since ResetPeak, in bytes. Linux only; 0 elsewhere.
func (p *Program) PeakRSS(t testing.TB) int64 {
	t.Helper()
	return p.status(t, "VmHWM:")
}

// ResetPeak begins a new measurement of PeakRSS: see clear_refs in proc_pid_clear_refs(5). It changes nothing where that is not to be had.
func (p *Program) ResetPeak(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID()), []byte("5"), 0); err != nil && !os.IsNotExist(err) && !os.IsPermission(err) {
		t.Fatal(err)
	}
}

// Descriptors is how many files and connections the program has open. Linux only; 0 elsewhere.
func (p *Program) Descriptors(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID()))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return len(list)
}

// status is a line of /proc/PID/status that counts kibibytes, in bytes; 0 where there is none.
func (p *Program) status(t testing.TB, name string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text, []byte(name))
	var kib int64
	fmt.Sscan(string(rest), &kib)
	return kib << 10
}
