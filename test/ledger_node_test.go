package test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// callByNode has the official client for Node call, too, under TOKENFARE_TEST=all. The function that it returns ends that.
func (s *shop) callByNode(t *testing.T) (stop func()) {
	t.Helper()
	if os.Getenv("TOKENFARE_TEST") != "all" {
		t.Log("without the client for Node: set TOKENFARE_TEST=all after npm ci in test/node, as test/all.sh does")
		return func() {}
	}
	const workers = 3
	secrets := map[string]string{"steady": s.clients.keys["steady"], "watched": s.clients.keys["watched"]} // it would wait where others are refused
	cmd := exec.Command("node", "load.mjs")
	cmd.Dir = "node"
	cmd.Env = append(os.Environ(), "BASE_URL="+s.clients.base+"/v1", "WORKERS="+strconv.Itoa(workers), "KEYS="+asJSON(t, secrets), "MODELS="+asJSON(t, callModels))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.clients.workers += workers
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.clients.note(t, lines.Bytes())
		}
	}()
	ended := false
	stop = func() {
		if ended {
			return
		}
		ended = true
		in.Close()
		<-read
		if err := cmd.Wait(); err != nil {
			t.Errorf("node load.mjs: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// note takes a line of load.mjs.
func (c *clients) note(t *testing.T, line []byte) {
	var said struct {
		Name, Key, Text string
		Status          int
		Ended           bool
	}
	if err := json.Unmarshal(line, &said); err != nil {
		t.Errorf("node load.mjs printed %q: %v", line, err)
		return
	}
	if !said.Ended {
		c.attempt(said.Name, said.Key)
		return
	}
	a := c.list()[said.Name]
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status, a.ended = said.Status, true
	a.body.WriteString(said.Text)
}
