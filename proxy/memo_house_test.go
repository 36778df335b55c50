package proxy_test

import "testing"

// What refused requests were estimated at is forgotten with the policy that they were estimated under.
func TestEstimatesEndWithTheirPolicy(t *testing.T) {
	h := newHouse(t, alice(t, "30 tokens in total"), answerWith(200, plainAnswer(8, 3)))
	for h.chat(hi).status == 200 {
	}
	if n := h.server.Remembered(); n != 1 {
		t.Fatalf("%d refused requests are remembered, want 1", n)
	}
	h.server.SetPolicy(h.policy(alice(t, "40 tokens in total")))
	if n := h.server.Remembered(); n != 0 {
		t.Errorf("%d requests are remembered that were refused under another policy", n)
	}
}
