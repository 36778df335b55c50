package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/test/harness"
)

// All that the ledgers of tests can hold.
var (
	dawnOfTests = time.Unix(0, 0)
	duskOfTests = time.Unix(1<<32, 0)
)

func TestCorrectionRequests(t *testing.T) {
	s := openShop(t)
	id := s.call().String()
	before := s.used()
	for name, one := range map[string]struct {
		token, body string
		status      int
		says        string
	}{
		"another token":   {"x", `{}`, http.StatusUnauthorized, "admin.token"},
		"no JSON":         {shopToken, `hello`, http.StatusBadRequest, "invalid_json"},
		"more than JSON":  {shopToken, `{"reason":"r","corrections":[{"id":"` + id + `","charge":"nothing"}]} {}`, http.StatusBadRequest, "after the JSON"},
		"unknown member":  {shopToken, `{"reason":"r","corections":[]}`, http.StatusBadRequest, "corections"},
		"too large":       {shopToken, `{"reason":"` + strings.Repeat("x", 1<<20) + `"}`, http.StatusRequestEntityTooLarge, "too_large"},
		"no reason":       {shopToken, `{"corrections":[{"id":"` + id + `","charge":"nothing"}]}`, http.StatusBadRequest, "reason"},
		"a long reason":   {shopToken, `{"reason":"` + strings.Repeat("x", 257) + `","corrections":[{"id":"` + id + `","charge":"nothing"}]}`, http.StatusBadRequest, "256"},
		"none":            {shopToken, `{"reason":"r","corrections":[]}`, http.StatusBadRequest, "name the calls"},
		"too many":        {shopToken, `{"reason":"r","corrections":[` + strings.Repeat(`{"id":"a"},`, 1000) + `{"id":"a"}]}`, http.StatusBadRequest, "at most 1000"},
		"twice":           {shopToken, `{"reason":"r","corrections":[{"id":"` + id + `","charge":"nothing"},{"id":"` + id + `","charge":"counted"}]}`, http.StatusBadRequest, "named twice"},
		"no id":           {shopToken, `{"reason":"r","corrections":[{"id":"x","charge":"nothing"}]}`, http.StatusBadRequest, "13 letters"},
		"no figure":       {shopToken, `{"reason":"r","corrections":[{"id":"` + id + `"}]}`, http.StatusBadRequest, "say what to charge"},
		"two figures":     {shopToken, `{"reason":"r","corrections":[{"id":"` + id + `","charge":"nothing","cost_usd":"1"}]}`, http.StatusBadRequest, "one of"},
		"another charge":  {shopToken, `{"reason":"r","corrections":[{"id":"` + id + `","charge":"much"}]}`, http.StatusBadRequest, "nothing or counted"},
		"no money":        {shopToken, `{"reason":"r","corrections":[{"id":"` + id + `","cost_usd":"-1"}]}`, http.StatusBadRequest, "number of dollars"},
		"negative tokens": {shopToken, `{"reason":"r","corrections":[{"id":"` + id + `","usage":{"input_tokens":-1,"output_tokens":0}}]}`, http.StatusBadRequest, "negative"},
		"more cached":     {shopToken, `{"reason":"r","corrections":[{"id":"` + id + `","usage":{"input_tokens":1,"cached_input_tokens":2,"output_tokens":0}}]}`, http.StatusBadRequest, "whole"},
		"no such call":    {shopToken, `{"reason":"r","corrections":[{"id":"req_1jd8v4q7w3nk0","charge":"nothing"}]}`, http.StatusNotFound, "no such call"},
		"another basis":   {shopToken, `{"reason":"r","corrections":[{"id":"` + id + `","was":"unreported","charge":"nothing"}]}`, http.StatusConflict, "changed_meanwhile"},
		"one of two":      {shopToken, `{"reason":"r","corrections":[{"id":"` + id + `","charge":"nothing"},{"id":"req_1jd8v4q7w3nk0","charge":"nothing"}]}`, http.StatusNotFound, "no such call"},
	} {
		status, text := s.post(one.token, one.body)
		if status != one.status || !strings.Contains(text, one.says) {
			t.Errorf("%s: %d, want %d with %q: %s", name, status, one.status, one.says, text)
		}
	}
	if made := s.corrections(); len(made) != 0 {
		t.Errorf("corrections were made: %+v", made)
	}
	if diff := cmp.Diff(before, s.used()); diff != "" {
		t.Errorf("budgets have changed:\n%s", diff)
	}

	status, text := s.post(shopToken, `{"reason":"refund","corrections":[{"id":"`+id+`","was":"reported","charge":"nothing"}]}`)
	var made corrected
	if err := json.Unmarshal([]byte(text), &made); err != nil || status != http.StatusOK {
		t.Fatalf("%d, %v: %s", status, err, text)
	}
	if len(made.Corrected) != 1 || made.Corrected[0].ID != id || made.Corrected[0].Was != "reported" || made.Corrected[0].Basis != "nothing" || made.Corrected[0].Change >= 0 {
		t.Errorf("%+v", made)
	}
	if diff := cmp.Diff(map[string]int64{"tokens": 0, "dollars": 0, "requests": 0}, s.used()); diff != "" {
		t.Errorf("budgets (want, got):\n%s", diff)
	}
	if list := s.corrections(); len(list) != 1 || list[0].Reason != "refund" || list[0].Was != ledger.Reported {
		t.Errorf("%+v", list)
	}
	if status, text := s.post(shopToken, `{"reason":"refund","corrections":[{"id":"`+id+`","charge":"nothing"}]}`); status != http.StatusOK || !strings.Contains(text, `"unchanged": [`+"\n"+`    "`+id) {
		t.Errorf("once more: %d %s", status, text)
	}
	s.balances()
}

// TestCorrectionsAtOnce: of many who correct the same call, one does it.
// TestCorrectionsThatDoNotArrive: why, in plain words, and without an address.
func TestCorrectionsThatDoNotArrive(t *testing.T) {
	s := openShop(t)
	broken := func(why error) io.Reader {
		ours, theirs := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 19090}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 41234}
		return io.MultiReader(strings.NewReader(`{"reason":`), iotest.ErrReader(&net.OpError{Op: "read", Net: "tcp", Source: ours, Addr: theirs, Err: why}))
	}
	for name, c := range map[string]struct {
		body   io.Reader
		status int
		says   string
	}{
		"slow":   {broken(os.ErrDeadlineExceeded), http.StatusRequestTimeout, "did not arrive in time"},
		"reset":  {broken(syscall.ECONNRESET), http.StatusBadRequest, "broke off before its end"},
		"short":  {iotest.ErrReader(io.ErrUnexpectedEOF), http.StatusBadRequest, "broke off before its end"},
		"no end": {strings.NewReader(`{"reason":`), http.StatusBadRequest, "invalid_json"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/ledger/corrections", c.body)
		r.Header.Set("Authorization", "Bearer "+shopToken)
		w := httptest.NewRecorder()
		s.app.adminHandler().ServeHTTP(w, r)
		if text := w.Body.String(); w.Code != c.status || !strings.Contains(text, c.says) || strings.Contains(text, "127.0.0.1") || strings.Contains(text, "tcp") {
			t.Errorf("%s: %d %s", name, w.Code, text)
		}
	}
}

func TestCorrectionsAtOnce(t *testing.T) {
	s := openShop(t)
	s.status.Store(0)
	id := s.call().String()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if status, text := s.post(shopToken, `{"reason":"r","corrections":[{"id":"`+id+`","charge":"nothing"}]}`); status != http.StatusOK {
				t.Errorf("%d %s", status, text)
			}
		})
	}
	all.Wait()
	if made := s.corrections(); len(made) != 1 {
		t.Errorf("%d corrections: %+v", len(made), made)
	}
	s.balances()
}

// TestCorrectionsByTwoProxies: of two proxies that share a ledger and are told to correct the same calls, one does it.
func TestCorrectionsByTwoProxies(t *testing.T) {
	pg, ok := harness.Postgres(t)
	if !ok {
		return
	}
	at := pg.NewDatabase(t)
	one, two := openShopAt(t, at), openShopAt(t, at)
	one.status.Store(0)
	for range 25 {
		id := one.call().String()
		var both sync.WaitGroup
		var made, refused atomic.Int64
		for _, s := range []*shop{one, two} {
			both.Go(func() {
				switch status, text := s.post(shopToken, `{"reason":"r","corrections":[{"id":"`+id+`","was":"unreported","charge":"nothing"}]}`); status {
				case http.StatusOK:
					made.Add(1)
				case http.StatusConflict:
					refused.Add(1)
				default:
					t.Errorf("%d %s", status, text)
				}
			})
		}
		both.Wait()
		if made.Load() != 1 || refused.Load() != 1 {
			t.Errorf("%d made the correction, %d were refused", made.Load(), refused.Load())
		}
	}
	if made := one.corrections(); len(made) != 25 {
		t.Errorf("%d corrections of 25 calls", len(made))
	}
	one.read(func(s ledger.Snapshot) error {
		report, err := ledger.Verify(t.Context(), s, ledger.VerifyOptions{})
		if err == nil && !report.Balances() {
			t.Errorf("the books do not balance: %d differences, such as %+v", len(report.Differences), report.Differences[0])
		}
		return err
	})
}

// TestACallThatRunsIsNotCorrected: its end will say what it is charged.
func TestACallThatRunsIsNotCorrected(t *testing.T) {
	s := openShop(t)
	w := s.app.books.writer
	begin := &ledger.Begin{Exchange: w.IDs().Next(), Series: ledger.Series{Key: "carol"}, Model: "m"}
	id := begin.Exchange.String()
	if err := w.Begin(begin).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, text := s.post(shopToken, `{"reason":"r","corrections":[{"id":"`+id+`","charge":"nothing"}]}`); status != http.StatusConflict || !strings.Contains(text, "not_ended") {
		t.Errorf("%d %s", status, text)
	}
	w.End(&ledger.End{Exchange: begin.Exchange, Basis: ledger.Nothing})
}

// TestWithoutALedgerThereIsNothingToCorrect says so.
func TestWithoutALedgerThereIsNothingToCorrect(t *testing.T) {
	a := &app{config: &Config{Admin: AdminConfig{Token: shopToken}}}
	s := &shop{t: t, app: a}
	s.serveAdmin(http.HandlerFunc(a.postCorrections))
	if status, text := s.post(shopToken, `{}`); status != http.StatusConflict || !strings.Contains(text, "ledger: none") {
		t.Errorf("%d %s", status, text)
	}
}
