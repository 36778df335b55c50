package reconcile_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost/reconcile"
)

// page is a page of OpenAI's API with one bucket, the first of August 2026.
func page(results string) string {
	return `{"object": "page", "has_more": false, "data": [{"object": "bucket", "start_time": 1785542400, "end_time": 1785628800, "results": [` + results + `]}]}`
}

func completion(members string) string {
	return `{"object": "organization.usage.completions.result", ` + members + `}`
}

func TestMistakesSayWhereAndWhatToDo(t *testing.T) {
	for _, c := range []struct{ file, says string }{
		{"", "file1: it is empty: export the usage again"},
		{" \n\t ", "it is empty"},
		{"\xff\xfed\x00a\x00y\x00", "UTF-16: save it as UTF-8"},
		{"PK\x03\x04spreadsheet", "a spreadsheet: unpack it, or export it as CSV"},

		{"day,model,colour\n", `file1: line 1: there is no column for requests, tokens or cost: call it input_tokens, prompt_tokens, tokens_prompt, n_context_tokens_total, context_tokens; the columns there are: "day", "model", "colour"`},
		{"model,input_tokens\n", "no column for the day: call it day, date,"},
		{"day,input_tokens\n", "no column for the model: call it model, model_name"},
		{"day,model,input_tokens\n2026-08-01,gpt-5\n", "line 2: it has more or fewer columns than the first line"},
		{"day,model,input_tokens\n2026-08-01,\"gpt-5,12\n", "it is not CSV"},
		{"day,model,Input Tokens\n2026-08-01,gpt-5,12\n08/02/2026,gpt-5,12\n", `line 3: column "day": "08/02/2026" is not a day: write it like 2026-08-31, or as seconds since 1970`},
		{"day,model,input_tokens\n1969-12-31,gpt-5,12\n", "is not a day"},
		{"day,model,input_tokens\n99999999999999,gpt-5,12\n", "is not a time in seconds since 1970"},
		{"day,model,Input Tokens\n2026-08-01,gpt-5,12\n2026-08-02,gpt-5,\"1,200\"\n", `line 3: column "Input Tokens": "1,200" is not a number: write it like 1234 or 0.25, without blanks or separators of thousands`},
		{"day,model,input_tokens\n2026-08-01,gpt-5,0.5\n", `"0.5" is not a whole number`},
		{"day,model,input_tokens\n2026-08-01,gpt-5,-1\n", `"-1" is less than nothing`},
		{"day,model,input_tokens\n2026-08-01,gpt-5,9223372036854775808\n", "too large to be a count"},
		{"day,model,input_tokens\n2026-08-01,gpt-5,1e999\n", "exponent is out of all bounds"},
		{"day,model,input_tokens\n2026-08-01,gpt-5,1e99999999\n", "exponent cannot be read"},
		{"day,model,input_tokens\n2026-08-01,gpt-5," + strings.Repeat("1", 401) + "\n", "longer than any number"},
		{"day,model,input_tokens\n2026-08-01, ,12\n", `line 2: column "model": it names no model: export by model as well as by day (group_by=model)`},
		{"day,model,input_tokens\n2026-08-01,\x1b[2Jgpt,12\n", "characters in its name that cannot be printed"},
		{"day,model,input_tokens\n2026-08-01," + strings.Repeat("m", 257) + ",12\n", "a name of more than 256 bytes"},
		{"day,model,input_tokens,cached_tokens\n2026-08-01,gpt-5,12,13\n", `column "cached_tokens": 13 tokens of 12 cannot have been cached: input must hold the cached part, too`},
		{"day,model,cost\n2026-08-01,gpt-5,1.2.3\n", `column "cost": "1.2.3" is not a number`},
		{"day,model,cost\n2026-08-01,gpt-5,99999999999\n", "too large"},
		{"day,model,cost,currency\n2026-08-01,gpt-5,1.2,EUR\n", `column "currency": it is another currency than dollars, which the ledger is in: export costs in dollars`},
		{"day,model,input_tokens\n2026-08-01,gpt-5,12\n2206-08-01,gpt-5,12\n", "its days run from 2026-08-01 to 2206-08-01: is one of them mistyped?"},
		{"start_time,end_time,model,input_tokens\n1785567600,1785654000,gpt-5,1\n", "line 2: the time from 2026-08-01T07:00:00Z to 2026-08-02T07:00:00Z: it is not within one day in UTC"},
		{"start_time,end_time,model,input_tokens\n1785542400,1786147200,gpt-5,1\n", "bucket_width=1d"},
		{"start_time,end_time,model,input_tokens\n1785542400,1785542400,gpt-5,1\n", "it ends before it begins"},

		{`{"object": "page", "data": [`, "file1: page 1, byte 28: it ends in the middle: export it again"},
		{`{"object": "page", "data": [}`, "it is not JSON"},
		{`{"object": "page", "data": "none"}`, "there is a text or number where a page, bucket or row should be"},
		{`{"object": "page", "has_more": false}`, `it is a page without "data"`},
		{`{"error": {"message": "Incorrect API key provided: sk-admin-secret", "code": "invalid_api_key"}}`, "it is an error of the API and no usage: ask again, with an admin key"},
		{`[[[[[[[[]]]]]]]]`, "nested too deep"},
		{`{"object": "page", "data": [{"object": "bucket", "start_time": "soon", "results": []}]}`, `page 1, byte 85: bucket 1: start_time: "soon" is not a day`},
		{`{"object": "page", "data": [{"object": "bucket", "start_time": 1785542400, "results": []}]}`, "bucket 1: end_time:"},
		{`{"object": "page", "data": [{"object": "bucket", "start_time": 1785542400, "end_time": 1786147200, "results": []}]}`, "bucket_width=1d"},
		{`{"object": "page", "data": [{"object": "bucket", "start_time": 1785542400, "end_time": 1785628800, "results": {}}]}`, "results are not an array"},
		{page(`{"object": "organization.usage.dreams.result"}`), `bucket 1: result 1: object "organization.usage.dreams.result" is not known here`},
		{page(`{"num_model_requests": 3}`), "it does not say what it is: its member object is missing"},
		{page(completion(`"input_tokens": 1, "output_tokens": 1, "num_model_requests": 1, "model": null`)), "model is missing: ask with group_by=model"},
		{page(completion(`"input_tokens": 1, "output_tokens": 1, "model": "gpt-5"`)), "num_model_requests is missing"},
		{page(completion(`"input_tokens": 1.5, "num_model_requests": 1, "model": "gpt-5"`)), `input_tokens: "1.5" is not a whole number`},
		{page(completion(`"input_tokens": [1], "num_model_requests": 1, "model": "gpt-5"`)), "there is an object where a number or text should be"},
		{page(completion(`"input_tokens": 1, "input_cached_tokens": 2, "num_model_requests": 1, "model": "gpt-5"`)), "2 tokens of 1 cannot have been cached"},
		{page(`{"object": "organization.costs.result", "amount": {"value": "lots", "currency": "usd"}}`), `amount.value: "lots" is not a number`},
		{page(`{"object": "organization.costs.result", "amount": 5}`), "amount is a number, which is not what stands there"},
		{page(`{"object": "organization.costs.result", "amount": {"value": 1, "currency": "eur"}}`), "amount.currency: it is another currency than dollars"},
		{`{"data": [{"date": "2026-08-01", "model": "gpt-5"}]}`, "row 1: there is no column for requests, tokens or cost"},

		{`{"interval": "P1W", "value": []}`, `interval "P1W" is not known here: ask with --interval P1D`},
		{`{"interval": "P1D", "value": [{"name": {"value": "GeneratedTokens"}, "timeseries": [{"data": [{"timeStamp": "2026-08-01T00:00:00Z", "total": 1.0}], "metadatavalues": []}]}]}`, `it is not by model: ask with --filter "ModelDeploymentName eq '*'"`},
		{`{"interval": "P1D", "value": [{"name": {"value": "GeneratedTokens"}, "timeseries": [{"data": [{"timeStamp": "2026-08-01T06:00:00Z", "total": 0}]}]}]}`, "it is not within one day in UTC"},
		{`{"value": {}}`, `"value" is not an array`},
	} {
		_, err := tryRead(t, c.file)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.80q: %v\nwant %s", c.file, err, c.says)
			continue
		}
		if strings.Contains(err.Error(), "sk-admin-secret") {
			t.Errorf("%v: what an API says of a key is told on", err)
		}
	}
}

// Whatever is in a file, no more than a part of it is held, and it is given up where that part is too large to be one.
func TestEndlessFilesAreGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		head, again string
		most        int64 // bytes that may be read
	}{
		"a quoted cell":        {"day,model,input_tokens\n2026-08-01,\"", "gpt ", 2 << 20},
		"a line":               {"day,", "model", 2 << 20},
		"blanks":               {"", "  \n", 1 << 20},
		"a text":               {`{"object": "`, "page ", 17 << 20},
		"an unknown member":    {`{"more": [`, "[1], ", 17 << 20},
		"depth":                {"", "[", 1 << 20},
		"depth that is passed": {`{"more": `, `[{"a": `, 17 << 20},
		"one result":           {page(`{"object": "`), "x", 17 << 20},
		"results":              {`{"data": [{"results": [{}`, ",{}", 2 << 20},
		"a number":             {`{"data": [{"results": [{"input_tokens": 1`, "0", 17 << 20},
		"a metric":             {`{"value": [{"timeseries": [{"data": [{}`, ",{}", 17 << 20},
		"rows":                 {"day,model,input_tokens\n", "2026-08-01,,\n", 20 << 20},
		"nothing":              {"", "[]", 4 << 20},
	} {
		endless := &repeated{head: c.head, again: c.again}
		if err := reconcile.NewReader().File(name, endless, reconcile.Auto); err == nil || endless.read > c.most {
			t.Errorf("%s: %v after %d bytes, want an error after %d at most", name, err, endless.read, c.most)
		}
	}
	if err := reconcile.NewReader().File("broken", io.MultiReader(strings.NewReader("day,model,input_tokens\n"), broken{}), reconcile.Auto); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a file that cannot be read on: %v", err)
	}
}

// repeated is a file that begins with head and then goes on for ever.
type repeated struct {
	head, again string
	read        int64
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if r.head == "" {
			r.head = strings.Repeat(r.again, 4096/len(r.again)+1)
		}
		m := copy(p[n:], r.head)
		r.head = r.head[m:]
		n += m
	}
	r.read += int64(n)
	return n, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }
