package wire_test

import (
	"testing"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

func TestOversized(t *testing.T) {
	for says, want := range map[string]bool{
		`Request too large for gpt-4o in organization org-… on tokens per min (TPM): Limit 10000, Requested 16000. The input`:       true,
		`Request too large for gpt-4o: Limit 30,000, Requested 45,123.`:                                                             true,
		`Request too large for gpt-4o: Limit: 9, Requested: 10`:                                                                     true,
		`Rate limit reached for gpt-4o on tokens per min (TPM): Limit 10000, Used 9000, Requested 1600. Please try again in 3.6s.`:  false,
		`Rate limit reached for gpt-4o on tokens per min (TPM): Limit 10000, Used 9000, Requested 16000. Please try again in 3.6s.`: true,
		`Limit 10000, Requested 10000`:                            false,
		`Limit 99999999999999999999, Requested 1`:                 false,
		`Limit 1, Requested 99999999999999999999`:                 false,
		`Unlimit 1, Requested 2`:                                  false,
		`Requested 2, Limit 1`:                                    false,
		`Limit of 1 reached`:                                      false,
		`You exceeded your current quota, please check your plan`: false,
		``: false,
	} {
		if got := wire.Oversized([]byte(`{"error":{"message":"` + says + `"}}`)); got != want {
			t.Errorf("%s: %v", says, got)
		}
	}
}
