package sqlite_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// logged opens a ledger as a proxy does, closes it, and returns the lines of the log by their message.
func logged(t *testing.T, path string) map[string][]map[string]any {
	t.Helper()
	var log bytes.Buffer
	store, err := sqlite.OpenLogging(t.Context(), path, slog.New(slog.NewJSONHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	lines := map[string][]map[string]any{}
	for d := json.NewDecoder(&log); d.More(); {
		var line map[string]any
		if err := d.Decode(&line); err != nil {
			t.Fatal(err)
		}
		text := line["level"].(string) + " " + line["msg"].(string)
		lines[text] = append(lines[text], line)
	}
	return lines
}

const (
	saysDamaged  = "ERROR ledger journal damaged"
	saysGap      = "ERROR ledger journal does not follow the ledger"
	saysReplayed = "INFO ledger journal replayed"
)

// journaled is what a kill leaves of calls that are all in the journal, and nowhere else; four, and two more in the other file.
func journaled(t *testing.T) (path string, calls []ledger.ID) {
	t.Helper()
	m := newMortal(t, ledger.Options{Late: 300 * time.Millisecond, RollEvery: time.Hour}) // long enough for four on a busy machine
	m.halt()
	for range 4 {
		id, ticket := m.begin()
		m.wait(ticket)
		calls = append(calls, id)
	}
	<-m.store.halted
	for range 2 {
		id, ticket := m.begin()
		m.wait(ticket)
		calls = append(calls, id)
	}
	return m.killed(), calls
}

// flip flips a bit of a file.
func flip(t *testing.T, path string, at int) {
	t.Helper()
	b := content(t, path)
	b[at] ^= 4
	write(t, path, b)
}

// What a kill has left is replayed, and said in one line; the next has nothing to say.
func TestAJournalThatIsReplayedIsSaid(t *testing.T) {
	path, calls := journaled(t)
	lines := logged(t, path)
	if said := lines[saysReplayed]; len(lines) != 1 || len(said) != 1 || said[0]["rows"] != float64(len(calls)) {
		t.Errorf("the log has %v", lines)
	}
	if all := found(t, path); !slices.Equal(all, calls) {
		t.Errorf("the ledger has %v, and %v were made", all, calls)
	}
	if lines := logged(t, path); len(lines) != 0 {
		t.Errorf("the next has to say %v", lines)
	}
	if left, err := filepath.Glob(path + "-tail*"); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v %v", left, err)
	}
}

// A journal that is damaged is said to be, and kept. Who only reads leaves it alone.
func TestADamagedJournalIsKept(t *testing.T) {
	path, calls := journaled(t)
	damaged := map[string][]byte{}
	for _, tail := range []string{"-tail0", "-tail1"} {
		flip(t, path+tail, 40)
		damaged[path+tail] = content(t, path+tail)
	}
	if all := found(t, path); len(all) > 0 {
		t.Errorf("a reader finds %v", all)
	}
	for tail, was := range damaged {
		if !bytes.Equal(content(t, tail), was) {
			t.Errorf("%s is another after somebody has read", tail)
		}
	}
	lines := logged(t, path)
	if len(lines[saysDamaged]) != 2 || len(lines[saysReplayed]) != 0 {
		t.Errorf("the log has %v", lines)
	}
	for _, line := range lines[saysDamaged] {
		file, kept := line["file"].(string), line["kept"].(string)
		if !bytes.Equal(content(t, kept), damaged[file]) || line["offset"] != 0.0 || line["replayed_rows"] != 0.0 {
			t.Errorf("what is kept is not what there was of %v, or %v", damaged, line)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s is still there", file)
		}
	}
	if list, err := sqlite.Damaged(path); err != nil || len(list) != 2 {
		t.Errorf("%v are kept, %v", list, err)
	}
	if all := found(t, path); len(all) > 0 {
		t.Errorf("of %v there are %v", calls, all)
	}
	if lines := logged(t, path); len(lines) != 0 {
		t.Errorf("the next has to say %v", lines)
	}
}

// What is before the damage is replayed, and so is what follows that batch.
func TestRowsBeforeTheDamageAreReplayed(t *testing.T) {
	path, calls := journaled(t)
	first := path + "-tail0"
	if len(content(t, first)) < len(content(t, path+"-tail1")) {
		first = path + "-tail1"
	}
	frame := len(content(t, first)) / 4 // four rows of the same size
	flip(t, first, 2*frame+40)
	lines := logged(t, path)
	if said := lines[saysDamaged]; len(said) != 1 || said[0]["file"] != first || said[0]["offset"] != float64(2*frame) || said[0]["replayed_rows"] != 2.0 {
		t.Errorf("the log has %v", lines)
	}
	if all := found(t, path); !slices.Equal(all, append(calls[:2:2], calls[4:]...)) || lines[saysReplayed][0]["rows"] != 4.0 {
		t.Errorf("of %v there are %v, and the log has %v", calls, all, lines)
	}
}

// Where one file of the two is gone, what is in the other does not follow. It is no longer removed without a word.
func TestABatchThatDoesNotFollowIsKept(t *testing.T) {
	path, calls := journaled(t)
	first, second := path+"-tail0", path+"-tail1"
	if len(content(t, first)) < len(content(t, second)) {
		first, second = second, first
	}
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	was := content(t, second)
	if all := found(t, path); len(all) > 0 || !bytes.Equal(content(t, second), was) {
		t.Errorf("a reader finds %v of %v, or has changed the journal", all, calls)
	}
	lines := logged(t, path)
	if said := lines[saysGap]; len(lines) != 1 || len(said) != 1 || said[0]["file"] != second || said[0]["rows"] != 2.0 {
		t.Errorf("the log has %v", lines)
	}
	if list, err := sqlite.Damaged(path); err != nil || len(list) != 1 || !bytes.Equal(content(t, list[0]), was) {
		t.Errorf("%v are kept, %v", list, err)
	}
}

// What is damaged of a batch that the ledger has is said, too: the disk may be failing. Nothing is missing by it.
func TestDamageOfWhatTheLedgerHas(t *testing.T) {
	path, calls := journaled(t)
	kept := map[string][]byte{}
	for _, tail := range []string{path + "-tail0", path + "-tail1"} {
		kept[tail] = content(t, tail)
	}
	logged(t, path)
	for tail, was := range kept {
		write(t, tail, was)
		flip(t, tail, len(was)-1) // in its last row
	}
	lines := logged(t, path)
	if len(lines[saysDamaged]) != 2 || len(lines) != 1 {
		t.Errorf("the log has %v", lines)
	}
	for _, line := range lines[saysDamaged] {
		if line["then"] != "none of its calls is missing, for the ledger had them already" {
			t.Errorf("the log has %v", line)
		}
	}
	if all := found(t, path); !slices.Equal(all, calls) {
		t.Errorf("the ledger has %v, and %v were made", all, calls)
	}
}
