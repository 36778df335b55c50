package limiter

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestAPeriodBeginsAtTheBoundaryBeforeIt(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia"}
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		r := CalendarQuota{Limit: 1, Period: rapid.Custom(func(t *rapid.T) Period { return Period(rapid.IntRange(int(Hour), int(Quarter)).Draw(t, "period")) }).Draw(t, "p"), Zone: zone}
		at := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		begin := r.Begin(at)
		if begin.After(at) {
			t.Fatalf("%v in %v: begins at %v, after it", at, r, begin)
		}
		if first, last := r.boundaryAfter(begin.UnixNano()), r.boundaryAfter(at.UnixNano()); first != last {
			t.Fatalf("%v in %v: begins at %v, in another period", at, r, begin)
		}
		if before := r.boundaryAfter(begin.UnixNano() - 1); before != begin.UnixNano() {
			t.Fatalf("%v in %v: begins at %v, which is no boundary", at, r, begin)
		}
	})
}
