package test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	official "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/sashabaranov/go-openai"
)

// attempt is one HTTP exchange that a client has made, and what of the answer has reached it so far. Its name is its label in the
// ledger, and stands in the traceparent that the upstream gets.
type attempt struct {
	Name string
	Key  string

	mu     sync.Mutex // guards all below
	status int
	body   bytes.Buffer
	ended  bool
	told   *told // set once it has ended, in place of body
}

// told is what received says of an attempt that has ended.
type told struct {
	anything bool
	words    int64
}

// received is what the client has of an answer: whether it has anything at all, and how many words of the text.
func (a *attempt) received() (status int, anything bool, words int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.told != nil {
		return a.status, a.told.anything, a.told.words
	}
	now := told{a.body.Len() > 0, countWords(a.body.Bytes())}
	if a.ended {
		a.told, a.body = &now, bytes.Buffer{}
	}
	return a.status, now.anything, now.words
}

// countWords counts the pieces that words makes, each one token.
func countWords(text []byte) (n int64) {
	for _, w := range words(6) {
		n += int64(bytes.Count(text, []byte(w)))
	}
	return n
}

// clients call the proxy from many goroutines at once, by the two SDKs for Go, until they are told to stop.
type clients struct {
	base  string
	keys  map[string]string // secrets by name
	names []string

	workers int

	mu       sync.Mutex
	number   int                 // of calls; guarded by mu
	attempts map[string]*attempt // by name; guarded by mu

	stop context.CancelFunc
	all  sync.WaitGroup
}

// callModels are the models that are called: one that thinks in secret, and two that do not, at different prices.
var callModels = []string{model, "gpt-4o", "gpt-5-mini"}

func newClients(base string, keys map[string]string) *clients {
	c := &clients{base: base, keys: keys, attempts: map[string]*attempt{}}
	for name := range keys {
		c.names = append(c.names, name)
	}
	return c
}

// run starts so many workers with each SDK.
func (c *clients) run(workers int) {
	ctx, stop := context.WithCancel(context.Background())
	c.stop, c.workers = stop, c.workers+2*workers
	for i := range workers {
		c.all.Go(func() { c.work(ctx, c.askOfficial, i) })
		c.all.Go(func() { c.work(ctx, c.askGoOpenAI, i) })
	}
}

// halt lets the calls that run end, and returns when all have.
func (c *clients) halt() {
	c.stop()
	c.all.Wait()
}

// asking is one call of a client's.
type asking struct {
	marker, key, model string
	stream, usage      bool
	most               int

	tries      int
	unanswered bool // the last of them
}

// work makes one call after the other.
func (c *clients) work(ctx context.Context, ask func(context.Context, *asking), worker int) {
	for ctx.Err() == nil {
		c.mu.Lock()
		c.number++
		q := &asking{
			marker: fmt.Sprintf("m%06d", c.number), key: c.names[(worker+c.number)%len(c.names)], model: callModels[rand.IntN(len(callModels))],
			stream: rand.IntN(2) == 0, usage: rand.IntN(2) == 0, most: 20 + rand.IntN(60),
		}
		c.mu.Unlock()
		ask(context.WithValue(context.WithoutCancel(ctx), askingKey{}, q), q) // what has begun is not cut: it ends or breaks
		rest := time.Duration(rand.IntN(5)) * time.Millisecond
		if q.unanswered {
			rest = 50 * time.Millisecond // nobody is there
		}
		pause(ctx, rest)
	}
}

type askingKey struct{}

// pause waits, as clients do that were refused or could not connect.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// prompt is unlike any other call's.
func (q *asking) prompt() string { return "Say some colours, " + q.marker + "." }

// retries is how often a client tries again that does so. Where calls are refused all the time, it would only wait.
func (q *asking) retries() int {
	if q.key == "steady" || q.key == "watched" {
		return 1
	}
	return 0
}

// askOfficial asks with openai-go, which tries again as it sees fit.
func (c *clients) askOfficial(ctx context.Context, q *asking) {
	client := official.NewClient(option.WithAPIKey(c.keys[q.key]), option.WithBaseURL(c.base+"/v1"), option.WithHTTPClient(c.http(q.key)), option.WithMaxRetries(q.retries()))
	params := official.ChatCompletionNewParams{
		Model: q.model, Messages: []official.ChatCompletionMessageParamUnion{official.UserMessage(q.prompt())}, MaxCompletionTokens: official.Int(int64(q.most)),
	}
	if !q.stream {
		_, _ = client.Chat.Completions.New(ctx, params) // its attempts say how it went
		return
	}
	if q.usage {
		params.StreamOptions.IncludeUsage = official.Bool(true)
	}
	stream := client.Chat.Completions.NewStreaming(ctx, params)
	defer stream.Close()
	for stream.Next() {
	}
}

// askGoOpenAI asks with go-openai, which tries once.
func (c *clients) askGoOpenAI(ctx context.Context, q *asking) {
	config := openai.DefaultConfig(c.keys[q.key])
	config.BaseURL, config.HTTPClient = c.base+"/v1", c.http(q.key)
	client := openai.NewClientWithConfig(config)
	request := openai.ChatCompletionRequest{
		Model: q.model, Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: q.prompt()}}, MaxCompletionTokens: q.most,
	}
	if !q.stream {
		_, _ = client.CreateChatCompletion(ctx, request) // its attempt says how it went
		return
	}
	if q.usage {
		request.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	stream, err := client.CreateChatCompletionStream(ctx, request)
	if err != nil {
		return
	}
	defer stream.Close()
	for err == nil {
		_, err = stream.Recv()
	}
}

// plainTransport is what all clients connect with.
var plainTransport = &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true}

// http notes every attempt, and what arrives of its answer.
func (c *clients) http(key string) *http.Client {
	return &http.Client{Transport: noting{c, key}, Timeout: time.Minute}
}

type noting struct {
	clients *clients
	key     string
}

func (n noting) RoundTrip(r *http.Request) (*http.Response, error) {
	q, ok := r.Context().Value(askingKey{}).(*asking)
	if !ok {
		panic("BUG: a call that was not asked for")
	}
	a := n.clients.attempt(fmt.Sprintf("%s-%d", q.marker, q.tries), n.key)
	q.tries++
	r = r.Clone(r.Context())
	r.Header.Set("X-Tokenfare-Label", a.Name)
	r.Header.Set("Traceparent", a.Name)
	resp, err := plainTransport.RoundTrip(r)
	q.unanswered = err != nil
	if err != nil {
		a.end()
		return nil, err
	}
	a.mu.Lock()
	a.status = resp.StatusCode
	a.mu.Unlock()
	resp.Body = notedBody{resp.Body, a}
	return resp, nil
}

// attempt begins one.
func (c *clients) attempt(name, key string) *attempt {
	a := &attempt{Name: name, Key: key}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.attempts[name] != nil {
		panic("BUG: two attempts are called " + name)
	}
	c.attempts[name] = a
	return a
}

// list is a copy of all attempts so far.
func (c *clients) list() map[string]*attempt {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.attempts)
}

func (a *attempt) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
}

type notedBody struct {
	io.ReadCloser
	attempt *attempt
}

func (b notedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.attempt.mu.Lock()
	b.attempt.body.Write(p[:n])
	b.attempt.mu.Unlock()
	if err != nil {
		b.attempt.end()
	}
	return n, err
}

func (b notedBody) Close() error {
	b.attempt.end()
	return b.ReadCloser.Close()
}

// running counts the attempts that have not ended.
func (c *clients) running() (n int) {
	for _, a := range c.list() {
		a.mu.Lock()
		if !a.ended {
			n++
		}
		a.mu.Unlock()
	}
	return n
}

// succeeded counts the answers that came whole, by the look of their status.
func (c *clients) succeeded() (n int) {
	for _, a := range c.list() {
		if status, anything, _ := a.received(); status == http.StatusOK && anything {
			n++
		}
	}
	return n
}

// statuses counts the attempts by what came back; 0: nothing did.
func (c *clients) statuses() map[int]int {
	count := map[int]int{}
	for _, a := range c.list() {
		status, _, _ := a.received()
		count[status]++
	}
	return count
}

// awaitCalls waits until so many more calls got answers.
func (c *clients) awaitCalls(t testing.TB, more int) {
	t.Helper()
	want := c.succeeded() + more
	eventually(t, fmt.Sprintf("%d calls succeed", want), func() bool { return c.succeeded() >= want })
}

// nameOf is the attempt that a call of the upstream's belongs to.
func nameOf(h http.Header) string { return strings.TrimSpace(h.Get("Traceparent")) }
