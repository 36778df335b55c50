package main

import "time"

// workload is one kind of call.
type workload struct {
	name, about string

	prompt   int           // bytes of prompt, about
	stream   bool          // the answer is a stream of events
	usage    bool          // the caller asks for the usage event itself
	pace     time.Duration // between two events of a stream; 0: all at once
	think    time.Duration // before the answer
	first    bool          // latency is to the first byte of the answer, not to the last
	spent    bool          // with the key whose budget is used up
	proxied  bool          // the mock is not asked directly
	conns    int           // connections that ask at the same time, closed loop
	share    float64       // requests a round, as a share of settings.requests
	requests int           // requests a round whatever the settings; 0: use share
	rounds   int           // rounds at most; 0: as many as the settings say
}

// fewConns keep two cores busy without queues that would measure themselves.
const fewConns = 8

func workloads() []workload {
	return []workload{
		{name: "chat-1k", about: "1 kB prompt, plain answer", prompt: 1_000, conns: fewConns, share: 1},
		{name: "chat-20k", about: "20 kB prompt, plain answer", prompt: 20_000, conns: fewConns, share: 0.4},
		{name: "stream", about: "1 kB prompt, 200 events as fast as they go, usage asked for", prompt: 1_000, stream: true, usage: true, conns: fewConns, share: 0.4},
		{name: "stream-withheld", about: "the same, usage not asked for: tokenfare asks and keeps that event to itself", prompt: 1_000, stream: true, conns: fewConns, share: 0.4},
		{name: "stream-slow", about: "200 streams at once, 200 events each, one every 10 ms", prompt: 1_000, stream: true, usage: true, pace: 10 * time.Millisecond, proxied: true, conns: 200, requests: 200, rounds: 2},
		{name: "refused", about: "1 kB prompt, budget used up: tokenfare answers 429, the others serve it", prompt: 1_000, spent: true, conns: fewConns, share: 1},
	}
}

// size is how many requests one round has.
func (w *workload) size(s *settings) int {
	if w.requests > 0 {
		return w.requests
	}
	return max(1, int(float64(s.requests)*w.share))
}

// ask makes n connections ask at the same time, in all workloads but those of streams that are slow, which have as many as streams.
func (s *settings) ask(n int) {
	for i := range s.workloads {
		if w := &s.workloads[i]; w.requests == 0 {
			w.conns = n
		}
	}
}

// timed reports whether latency is measured: a stream that is paced takes as long as its pace says.
func (w *workload) timed() bool { return w.pace == 0 }

// settings are the sizes of a run.
type settings struct {
	rounds    int
	requests  int
	rate      int    // requests a second to each server while latency is measured
	samples   int    // latencies measured of each server, workload and round
	binary    string // the program to measure; empty: build it
	workloads []workload
}

func defaultSettings() settings {
	return settings{rounds: 5, requests: 3_000, rate: 50, samples: 100, workloads: workloads()}
}
