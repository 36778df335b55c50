package harness

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Sample is one line of a scrape.
type Sample struct {
	Name   string
	Labels map[string]string
	Value  float64
}

// Metrics is one scrape.
type Metrics struct {
	Text    string // as served
	Samples []Sample
}

// Metrics scrapes the admin listener.
func (p *Program) Metrics(t testing.TB) Metrics {
	t.Helper()
	resp, err := p.HTTP.Get(p.Admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET /metrics: %s\n%s", resp.Status, text)
	}
	m := Metrics{Text: string(text)}
	for line := range strings.Lines(m.Text) {
		if s, ok := parseSample(strings.TrimSpace(line)); ok {
			m.Samples = append(m.Samples, s)
		}
	}
	return m
}

// Sum adds up the samples of a metric whose labels have the values given as name, value pairs; found is false when
// there is none.
func (m Metrics) Sum(name string, labels ...string) (sum float64, found bool) {
samples:
	for _, s := range m.Samples {
		if s.Name != name {
			continue
		}
		for i := 0; i+1 < len(labels); i += 2 {
			if s.Labels[labels[i]] != labels[i+1] {
				continue samples
			}
		}
		sum, found = sum+s.Value, true
	}
	return sum, found
}

// Remaining is what is left of the only budget of a key, by the rate_limit_tokens gauge.
func (p *Program) Remaining(t testing.TB, key string) int64 {
	t.Helper()
	m := p.Metrics(t)
	var found []Sample
	for _, s := range m.Samples {
		if s.Name == "rate_limit_tokens" && s.Labels["key"] == key {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("rate_limit_tokens of key %s has %d series, want one: %v", key, len(found), found)
	}
	return int64(found[0].Value)
}

// WantIdle waits until no reservation is open.
func (p *Program) WantIdle(t testing.TB) {
	t.Helper()
	Eventually(t, "tokenfare_open_reservations is 0", func() bool {
		open, found := p.Metrics(t).Sum("tokenfare_open_reservations")
		if !found {
			t.Fatal("there is no metric tokenfare_open_reservations")
		}
		return open == 0
	})
}

var (
	samplePattern = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$`)
	labelPattern  = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"`)
)

func parseSample(line string) (Sample, bool) {
	match := samplePattern.FindStringSubmatch(line)
	if match == nil {
		return Sample{}, false
	}
	value, err := strconv.ParseFloat(match[3], 64)
	if err != nil {
		return Sample{}, false
	}
	s := Sample{Name: match[1], Labels: map[string]string{}, Value: value}
	for _, l := range labelPattern.FindAllStringSubmatch(match[2], -1) {
		s.Labels[l[1]] = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(l[2])
	}
	return s, true
}
