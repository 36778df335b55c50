package soak

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind is what a call asks for.
type kind string

const (
	plain           kind = "plain"
	stream          kind = "stream"            // without usage, which is withheld
	streamAsked     kind = "stream with usage" // asked for
	reasoning       kind = "reasoning stream"
	drawn           kind = "stream without limit" // it draws
	responses       kind = "response"
	responsesStream kind = "response stream"
	embeddings      kind = "embeddings"
	unreachable     kind = "upstream that is gone"

	// Those that never go upstream.
	brokenJSON   kind = "invalid JSON"
	unknownModel kind = "unknown model"
	wrongKey     kind = "wrong key"
	tooLarge     kind = "over budget"
)

// kinds, each as often as it stands here.
var kinds = []kind{
	plain, plain, plain, stream, stream, stream, streamAsked, streamAsked, reasoning, drawn, responses, responsesStream, embeddings, unreachable,
	brokenJSON, unknownModel, wrongKey, tooLarge,
}

// day is what the upstream does with a call.
type day string

const (
	whole      day = "whole"
	unreported day = "no usage"
	zero       day = "usage of zero"
	negative   day = "negative usage"
	absurd     day = "absurd usage"
	beyond     day = "more than reserved"
	refused    day = "429"
	failed     day = "500"
	busy       day = "503"
	noStatus   day = "closed before headers"
	resetFirst day = "reset before headers"
	silent     day = "silent before headers"
	garbage    day = "no HTTP"
	resetLater day = "reset in the body"
	short      day = "short body"
	silentBody day = "silent in the body"
	badChunk   day = "bad chunking"
	gone       day = "not there"
)

// days, each as often as it stands here; the silent ones take long.
var days = []day{
	whole, whole, whole, whole, whole, whole, whole, whole, whole, whole, whole, whole, whole, whole, whole, whole, unreported, unreported, zero, negative, absurd,
	beyond, refused, failed, busy, noStatus, resetFirst, silent, garbage, resetLater, short, silentBody, badChunk,
}

// way is what the client does.
type way string

const (
	reads       way = "reads"
	readsSlowly way = "reads slowly"
	sendsSlowly way = "sends slowly"
	leaves      way = "leaves"        // after some time, wherever the call is
	leavesLater way = "leaves midway" // after some of the answer
	halfCloses  way = "half-closes"   // says that it will send nothing more, and waits
)

var ways = []way{reads, reads, reads, reads, reads, reads, reads, readsSlowly, sendsSlowly, leaves, leavesLater, halfCloses}

// plan is everything about a call.
type plan struct {
	number int
	key    string
	kind   kind
	day    day
	way    way

	words int           // of the answer, one token each
	most  int           // output limit
	pace  time.Duration // between events
	think time.Duration // before the status
	cut   int           // events before the fault, or before the client leaves
	after time.Duration // until the client leaves
	gated bool          // after half of the words, the upstream waits for its gate to open
}

// strict are the keys whose budgets run out and refill while they are driven, and which no answer may overrun; orderly are those whose
// calls are counted while they run, so both ends keep to the rules.
var (
	keys    = []string{"steady", "watched", "windowed", "bucket", "small", "penny", "few"}
	strict  = []string{"windowed", "bucket", "small", "penny", "few"}
	orderly = []string{"few"}
	bounded = []string{"small", "bucket", "penny", "steady"} // in what one call may cost
)

// planOf is the plan of one call.
func planOf(seed uint64, number int) plan {
	r := rand.New(rand.NewPCG(seed, uint64(number)))
	p := plan{
		number: number, key: keys[r.IntN(len(keys))], kind: kinds[r.IntN(len(kinds))], day: days[r.IntN(len(days))], way: ways[r.IntN(len(ways))],
		words: 1 + r.IntN(40), pace: time.Duration(r.IntN(3)*r.IntN(4)) * time.Millisecond, think: time.Duration(r.IntN(3)*r.IntN(12)) * time.Millisecond,
		after: time.Duration(r.IntN(60)) * time.Millisecond,
	}
	if p.way == readsSlowly && r.IntN(4) == 0 && !slices.Contains(strict, p.key) {
		p.words, p.pace = 4000, 0 // more than sockets hold
	}
	p.most = p.words + r.IntN(40)
	p.cut = r.IntN(p.words + 1)
	if slices.Contains(strict, p.key) {
		if p.day == beyond {
			p.day = whole
		}
		if p.kind == drawn {
			p.kind = stream
		}
	}
	if slices.Contains(orderly, p.key) {
		p.day, p.way = whole, reads
	}
	if p.kind == tooLarge && !slices.Contains(bounded, p.key) {
		p.key = bounded[0]
	}
	if p.kind == unreachable {
		p.day = gone
	}
	if p.kind == embeddings && (p.day == negative || p.day == zero || p.day == badChunk) {
		p.day = whole
	}
	return p
}

// name is the call's label, and stands in its prompt.
func (p plan) name() string { return fmt.Sprintf("m%07d", p.number) }

// numberIn finds the number of the call that a prompt belongs to.
func numberIn(body []byte) (number int, ok bool) {
	const before = "Say some colours, m"
	at := bytes.Index(body, []byte(before))
	if at < 0 || len(body) < at+len(before)+7 {
		return 0, false
	}
	n, err := strconv.Atoi(string(body[at+len(before) : at+len(before)+7]))
	return n, err == nil
}

func (p plan) prompt() string { return "Say some colours, " + p.name() + "." }

// streams reports whether the answer is a stream.
func (p plan) streams() bool {
	switch p.kind {
	case stream, streamAsked, reasoning, drawn, responsesStream:
		return true
	default:
		return false
	}
}

// path is where the call goes.
func (p plan) path() string {
	switch p.kind {
	case responses, responsesStream:
		return "/v1/responses"
	case embeddings:
		return "/v1/embeddings"
	default:
		return "/v1/chat/completions"
	}
}

// model is what the call asks for.
func (p plan) model() string {
	switch p.kind {
	case reasoning:
		return "gpt-5-mini"
	case drawn:
		return "gpt-4o"
	case embeddings:
		return "text-embedding-3-small"
	case unreachable:
		return "gpt-4.1-nano"
	case unknownModel:
		return "nobody-1"
	default:
		return "gpt-4o-mini"
	}
}

// body is the request.
func (p plan) body() string {
	members := []string{fmt.Sprintf(`"model":%q`, p.model())}
	switch p.kind {
	case embeddings:
		return fmt.Sprintf(`{%s,"input":%q}`, members[0], p.prompt())
	case responses, responsesStream:
		members = append(members, fmt.Sprintf(`"input":%q,"store":false,"max_output_tokens":%d`, p.prompt(), p.most))
	default:
		members = append(members, fmt.Sprintf(`"messages":[{"role":"user","content":%q}]`, p.prompt()))
		if p.kind != drawn {
			members = append(members, fmt.Sprintf(`"max_completion_tokens":%d`, p.most))
		}
	}
	switch {
	case p.kind == tooLarge:
		members[len(members)-1] = `"max_completion_tokens":16000,"n":100`
	case p.kind == streamAsked:
		members = append(members, `"stream":true,"stream_options":{"include_usage":true}`)
	case p.streams():
		members = append(members, `"stream":true`)
	}
	body := "{" + strings.Join(members, ",") + "}"
	if p.kind == brokenJSON {
		body = body[:len(body)-2]
	}
	return body
}
