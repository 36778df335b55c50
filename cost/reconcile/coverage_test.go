package reconcile_test

import (
	"fmt"
	"strings"
	"testing"
)

const august1 = 1785542400

// used is a page with a bucket of so many seconds since the first of August, and one request for a model in it.
func used(from, to int, model string) string {
	result := ""
	if model != "" {
		result = completion(fmt.Sprintf(`"input_tokens": 10, "output_tokens": 1, "num_model_requests": 1, "model": %q`, model))
	}
	return fmt.Sprintf(`{"object": "page", "data": [{"object": "bucket", "start_time": %d, "end_time": %d, "results": [%s]}], "has_more": false, "next_page": null}`, august1+from, august1+to, result)
}

const hour, day = 3600, 86400

func TestOnlyWholeDaysAreCovered(t *testing.T) {
	var hours []string
	for h := range 24 {
		hours = append(hours, used(h*hour, (h+1)*hour, "gpt-5"))
	}
	for name, c := range map[string]struct {
		files []string
		want  string // the last lines
	}{
		"a day":                    {[]string{used(0, day, "gpt-5")}, "usage [2026-08-01] costs []\n"},
		"a day of hours":           {hours, "usage [2026-08-01] costs []\n"},
		"hours, last first":        {append([]string{hours[23]}, hours[:23]...), "usage [2026-08-01] costs []\n"},
		"hours, one file":          {[]string{strings.Join(hours, "")}, "usage [2026-08-01] costs []\n"},
		"an hour missing":          {append(hours[:5:5], hours[6:]...), "usage [] costs []\n2026-08-01 is only partly in the export (completions), so it was left out: export whole days, from midnight to midnight UTC\n"},
		"from half past five":      {[]string{used(5*hour+1800, day, "gpt-5"), used(day, 2*day, "gpt-5")}, "usage [2026-08-02] costs []\n2026-08-01 is only partly in the export (completions), so it was left out: export whole days, from midnight to midnight UTC\n"},
		"nothing used":             {[]string{used(0, day, "")}, "usage [2026-08-01] costs []\nfile1 has days without any usage, as it says\n"},
		"nothing used, then calls": {[]string{used(0, day, "") + used(day, 2*day, "gpt-5") + used(2*day, 3*day, "")}, "usage [2026-08-01 2026-08-02 2026-08-03] costs []\n"},
		"a table without columns": {
			[]string{"start_time,end_time,start_time_iso,end_time_iso\n1785542400,1785628800,2026-08-01T00:00:00,2026-08-02T00:00:00\n"},
			"usage [2026-08-01] costs []\nfile1 has days and no other columns: nothing was used on them, as it says\n",
		},
		"tables of different days": {
			[]string{used(0, day, "gpt-5") + used(day, 2*day, "gpt-5"), "testdata/openai-embeddings.json"},
			"usage [2026-08-01 2026-08-02] costs []\npage 1 of openai-embeddings.json says that there are more (has_more): pages that are missing here are days that are not compared\n1 day was left out, because not every table of the export covers them: export all tables for the same days\n",
		},
		"one call in two tables": {
			[]string{used(0, day, "gpt-image-2"), page(`{"object": "organization.usage.images.result", "images": 3, "num_model_requests": 1, "model": "gpt-image-2"}`)},
			"2026-08-01 gpt-image-2: 1 requests, 10 in, - cached, 1 out, -\nusage [2026-08-01] costs []\n",
		},
		"what has no model": {
			[]string{used(0, day, "gpt-5"), page(`{"object": "organization.usage.vector_stores.result", "usage_bytes": 1024, "project_id": null}`)},
			"usage [2026-08-01] costs []\norganization.usage.vector_stores.result was left out: it is not by model\n",
		},
	} {
		if got := shown(read(t, c.files...)); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s:\n%swant\n%s", name, got, c.want)
		}
	}
}

func TestNothingIsReadTwice(t *testing.T) {
	plain := "day,model,requests\n2026-08-01,gpt-5,1\n2026-08-01,gpt-5,2\n"
	for name, c := range map[string]struct {
		files []string
		says  string // empty: they may stand beside each other
	}{
		"the same file":         {[]string{used(0, day, "gpt-5"), used(0, day, "gpt-5")}, "file2: page 1, byte 247: bucket 1: result 1: gpt-5 of 2026-08-01 is in file1, page 1, too, and would count twice"},
		"the same page":         {[]string{used(0, day, "gpt-5") + used(0, day, "gpt-5")}, "is in file1, page 1, too"},
		"the same table":        {[]string{plain, plain}, "file2: line 2: gpt-5 of 2026-08-01 is in file1, too"},
		"a day and its hours":   {[]string{used(0, day, "gpt-5"), used(hour, 2*hour, "gpt-5")}, "completions of 2026-08-01 is in file1, page 1 and, by another width, in file2, page 1, and would count twice"},
		"a day and its rest":    {[]string{used(6*hour, day, "gpt-5"), used(0, day, "gpt-5")}, "by another width"},
		"one table, alike rows": {[]string{plain}, ""},
		"another model":         {[]string{used(0, day, "gpt-5"), used(0, day, "gpt-4o")}, ""},
		"another day":           {[]string{used(0, day, "gpt-5"), used(day, 2*day, "gpt-5")}, ""},
		"usage and costs":       {[]string{"testdata/openai-usage.json", "testdata/openai-costs.json"}, ""},
		"another project": {[]string{
			page(completion(`"input_tokens": 1, "output_tokens": 1, "num_model_requests": 1, "model": "gpt-5", "project_id": "a"`)),
			page(completion(`"input_tokens": 1, "output_tokens": 1, "num_model_requests": 1, "model": "gpt-5", "project_id": "b"`)),
		}, ""},
	} {
		switch _, err := tryRead(t, c.files...); {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want %s", name, err, c.says)
		}
	}
}
