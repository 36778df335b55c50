package soak

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// call is what a client has of one call in the end.
type call struct {
	status   int   // 0: none came
	words    int64 // of the answer
	bytes    int64
	clean    bool // the answer came to an end of its own
	done     bool // and says that it is complete
	killed   bool // the program was killed meanwhile
	forgot   bool // or so soon afterwards that its end may not have been in the ledger
	happened string
	body     string // of an error

	began, ended time.Time
}

// String is for faults.
func (got *call) String() string {
	return fmt.Sprintf("status %d, %d words in %d bytes, clean %v, done %v, killed %v, %s after %s %s", got.status, got.words, got.bytes, got.clean, got.done, got.killed, got.happened, got.ended.Sub(got.began).Round(time.Millisecond), got.body)
}

// clients make one call after the other, until they are told to stop.
type clients struct {
	address string // host:port of the proxy
	secrets map[string]string
	plans   func(number int) plan
	next    atomic.Int64
	http    *http.Client
	rest    time.Duration // of each worker, between its calls

	mu    sync.Mutex
	calls map[int]*call
	kills []time.Time // of the program
}

func newClients(address string, secrets map[string]string, plans func(number int) plan) *clients {
	return &clients{
		address: address, secrets: secrets, plans: plans, calls: map[int]*call{},
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true}},
	}
}

// run makes calls by so many workers until ctx ends, and returns when all have ended.
func (c *clients) run(ctx context.Context, workers int) {
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for ctx.Err() == nil {
				pause(ctx, c.rest)
				if got := c.one(); got.status == 0 && got.happened == "not connected" {
					pause(ctx, 20*time.Millisecond)
				}
			}
		})
	}
	all.Wait()
}

// one makes the next call.
func (c *clients) one() *call {
	number := int(c.next.Add(1))
	got := c.make(c.plans(number))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[number] = got
	return got
}

// made is how many calls have ended.
func (c *clients) made() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}

// kill notes that the program is about to be killed.
func (c *clients) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kills = append(c.kills, time.Now())
}

// lag is the longest that the end of a call takes to the ledger: where it takes longer, the ledger is not available.
const lag = 6 * time.Second

// judge says which calls a kill has met. All have ended.
func (c *clients) judge() {
	for _, one := range c.calls {
		for _, at := range c.kills {
			one.killed = one.killed || at.Add(time.Second).After(one.began) && at.Before(one.ended.Add(100*time.Millisecond))
			one.forgot = one.forgot || at.Add(time.Second).After(one.began) && at.Before(one.ended.Add(lag))
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// make makes one call.
func (c *clients) make(p plan) *call {
	got := &call{began: time.Now()}
	ctx, leave := context.WithTimeout(context.Background(), time.Minute)
	defer leave()
	if p.way == leaves {
		stop := time.AfterFunc(p.after, leave)
		defer stop.Stop()
	}
	if p.way == halfCloses {
		c.halfClose(p, got)
	} else {
		c.ask(ctx, p, got)
	}
	got.ended = time.Now()
	return got
}

func (c *clients) header(p plan) http.Header {
	secret := c.secrets[p.key]
	if p.kind == wrongKey {
		secret = "tf-stranger"
	}
	return http.Header{"Authorization": {"Bearer " + secret}, "Content-Type": {"application/json"}, "X-Tokenfare-Label": {p.name()}}
}

// ask calls as any client does.
func (c *clients) ask(ctx context.Context, p plan, got *call) {
	var body io.Reader = strings.NewReader(p.body())
	if p.way == sendsSlowly {
		body = &slow{from: body, each: 40, rest: time.Millisecond}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.address+p.path(), body)
	if err != nil {
		panic(err) // the address is ours
	}
	r.Header = c.header(p)
	r.Close = p.gated // a connection that becomes idle at the moment in which the program closes what is idle is lost to whoever uses it then
	resp, err := c.http.Do(r)
	if err != nil {
		got.happened = wrong(err)
		return
	}
	defer resp.Body.Close()
	got.status = resp.StatusCode
	var from io.Reader = resp.Body
	if p.way == readsSlowly {
		each := 100
		if p.words > 1000 {
			each = 64 << 10
		}
		from = &slow{from: from, each: each, rest: time.Millisecond}
	}
	got.read(from, p)
}

// read takes the answer, until the client has enough of it.
func (got *call) read(from io.Reader, p plan) {
	buffer, line := make([]byte, 4<<10), []byte(nil)
	for {
		n, err := from.Read(buffer)
		got.bytes += int64(n)
		if got.status != http.StatusOK {
			got.body += string(buffer[:n])
		} else {
			line = got.count(append(line, buffer[:n]...))
		}
		switch {
		case err == io.EOF:
			got.clean = true
			return
		case err != nil:
			got.happened = wrong(err)
			return
		case p.way == leavesLater && got.words >= int64(p.cut):
			got.happened = "left"
			return
		}
	}
}

// count counts the words in what has come, and returns what may be half of one.
func (got *call) count(text []byte) []byte {
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole == 0 && len(text) > 2<<20 {
		whole = len(text)
	}
	if whole == 0 { // plain answers have one line
		if !bytes.HasSuffix(text, []byte("}")) {
			return text
		}
		whole = len(text)
	}
	for _, colour := range colours {
		got.words += int64(bytes.Count(text[:whole], []byte(colour)))
	}
	for _, end := range []string{"data: [DONE]", "response.completed", `"object":"chat.completion"`, `"object":"list"`, `"status":"completed"`} {
		got.done = got.done || bytes.Contains(text[:whole], []byte(end))
	}
	return append([]byte(nil), text[whole:]...)
}

// halfClose says that nothing more will be sent, and waits for what comes then.
func (c *clients) halfClose(p plan, got *call) {
	conn, err := net.Dial("tcp", c.address)
	if err != nil {
		got.happened = "not connected"
		return
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	body := p.body()
	var head strings.Builder
	fmt.Fprintf(&head, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", p.path(), c.address, len(body))
	c.header(p).Write(&head)
	io.WriteString(conn, head.String()+"\r\n"+body)
	timer := time.AfterFunc(p.after, func() { conn.(*net.TCPConn).CloseWrite() })
	defer timer.Stop()
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodPost})
	if err != nil {
		got.happened = wrong(err)
		return
	}
	defer resp.Body.Close()
	got.status = resp.StatusCode
	got.read(resp.Body, p)
}

// wrong says in a word what went wrong.
func wrong(err error) string {
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return "not connected"
	case errors.Is(err, context.Canceled):
		return "left"
	case errors.Is(err, context.DeadlineExceeded):
		return "waited too long"
	default:
		return "broken"
	}
}

// slow reads little at a time.
type slow struct {
	from io.Reader
	each int
	rest time.Duration
}

func (s *slow) Read(p []byte) (int, error) {
	<-time.After(s.rest)
	return s.from.Read(p[:min(s.each, len(p))])
}
