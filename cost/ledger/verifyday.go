package ledger

import (
	"context"
	"time"
)

// days compares the sums of days, of which reports of months are made, with those of their hours. Neither is ever dropped.
func (v *verifier) days(ctx context.Context, hours []int64, all Sums) error {
	const length = 24 * time.Hour
	last := int64(-1)
	for _, hour := range hours {
		day := floor(hour, int64(length/time.Second))
		if day == last {
			continue
		}
		last = day
		sums := map[Hour]*bothSums{}
		q := HourQuery{From: time.Unix(day, 0), To: time.Unix(day, 0).Add(length), Series: true, Model: true, Label: true}
		err := v.Hours(ctx, q, func(h Hour, s Sums) error {
			h.Start = day
			bothOf(sums, h).is.Add(s)
			return nil
		})
		if err != nil {
			return err
		}
		v.report.Days += int64(len(sums))
		q.Hour = true
		err = v.Hours(ctx, q, func(h Hour, s Sums) error {
			h.Start = day
			bothOf(sums, h).should.Add(s)
			return nil
		})
		if err != nil {
			return err
		}
		v.compare(DayDiffers, sums)
	}
	return v.allDays(ctx, all)
}

// allDays compares the sum of all days with that of all hours: there may be days of which no hour is left.
func (v *verifier) allDays(ctx context.Context, all Sums) error {
	var sums Sums
	before := len(v.report.Differences)
	err := v.Hours(ctx, HourQuery{From: dawn, To: dusk}, func(_ Hour, s Sums) error {
		sums.Add(s)
		return nil
	})
	if before == 0 { // else it says again what is known
		v.compare(DayDiffers, map[Hour]*bothSums{{}: {is: sums, should: all}})
	}
	return err
}
