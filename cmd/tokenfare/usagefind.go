package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// upstreamID is what the ledger keeps of upstreams' ids.
var upstreamID = regexp.MustCompile(`^[a-zA-Z0-9_.:/-]{1,128}$`)

// mostFound is how many exchanges with the same id of an upstream are listed.
const mostFound = 20

// findEvery is the time of which the rows are read at once, so that the newest come first.
const findEvery = 24 * time.Hour

// errNotFound says that there is no such exchange.
var errNotFound = errors.New("not in the ledger")

// one prints one exchange: by its own id, or else by the upstream's, of which there may be several in the span.
func (u *usageReading) one(ctx context.Context, id ledger.ID, s span) error {
	snapshot, err := u.store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	err = errNotFound
	if id != 0 {
		var x *oneExchange
		if x, err = findExchange(ctx, snapshot, id, u.zone); err == nil {
			return u.print([]*oneExchange{x})
		}
	}
	if !errors.Is(err, errNotFound) {
		return err
	}
	found, searching := u.byUpstreamID(ctx, snapshot, s)
	switch {
	case searching != nil:
		return searching
	case len(found) > 0:
		return u.print(found)
	case id != 0:
		return err
	}
	return fmt.Errorf("%q is no id of this proxy's, which are \"req_\" and 13 letters and digits, as the log and x-tokenfare-id have them, and no call since %s has it of its upstream: is it of before? Look with -since 30d",
		u.id, stamp(s.from))
}

// byUpstreamID reads the exchanges of a span whose upstream gave them this id, the newest first.
func (u *usageReading) byUpstreamID(ctx context.Context, s ledger.Snapshot, in span) (found []*oneExchange, err error) {
	from, to := in.hours()
	for ; from.Before(to) && len(found) < mostFound; to = to.Add(-findEvery) {
		var ids []ledger.ID
		begin := to.Add(-findEvery)
		if begin.Before(from) {
			begin = from
		}
		err := s.Began(ctx, begin, to, func(x *ledger.Exchange) error {
			if x.End != nil && x.End.UpstreamID == u.id {
				ids = append(ids, x.Begin.Exchange)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, id := range slices.Backward(ids) {
			x, err := findExchange(ctx, s, id, u.zone)
			if err != nil {
				return nil, err
			}
			if found = append(found, x); len(found) == mostFound {
				break
			}
		}
	}
	return found, nil
}

// print prints an exchange whole, and of several as much as it takes to choose.
func (u *usageReading) print(list []*oneExchange) error {
	var out strings.Builder
	g := &grid{right: []bool{false, false, false, false, false, true}, rows: [][]string{{"ID", "BEGAN", "KEY", "MODEL", "ENDING", "COST"}}}
	for _, x := range list {
		if u.json {
			out.WriteString(x.json())
			continue
		}
		b := &x.Begin
		row := []string{b.Exchange.String(), x.instant(b.Exchange), nameCell(b.Series.Key), nameCell(b.Model), "", ""}
		if x.End != nil {
			row[4], row[5] = nameCell(x.End.Ending), x.End.Cost.String()
		}
		g.rows = append(g.rows, row)
	}
	switch {
	case u.json:
	case len(list) == 1:
		out.WriteString(list[0].String())
	default:
		fmt.Fprintf(&out, "%s calls have this id of their upstream, the newest first:\n\n%s\nAll there is to know of one: -id and its own.\n", atLeast(len(list)), g)
	}
	_, err := io.WriteString(u.stdout, out.String())
	return err
}

// atLeast is a number of those found: there may be more than are listed.
func atLeast(n int) string {
	if n == mostFound {
		return fmt.Sprintf("%d or more", n)
	}
	return fmt.Sprint(n)
}
