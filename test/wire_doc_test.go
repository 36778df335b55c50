package test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/test/pages"
)

const wirePage = "../docs/wire.md"

// TestWireDocVariants: every double of an upstream has its place in one row, which says what its charge rests on and which settings it
// is given; and every one that is named exists.
func TestWireDocVariants(t *testing.T) {
	doubles := map[string]variant{}
	for _, v := range allVariants() {
		if doubles[v.name].name != "" {
			t.Errorf("two doubles are called %q", v.name)
		}
		doubles[v.name] = v
	}
	documented := map[string]bool{}
	for _, row := range pages.Read(t, wirePage).Table(t, "| upstream | what tokenfare does |") {
		names := pages.Code(row[4])
		if len(names) == 0 {
			t.Errorf("%s: no double shows it", row[0])
		}
		for _, name := range names {
			v, exists := doubles[name]
			switch {
			case !exists:
				t.Errorf("%s: there is no double %q", row[0], name)
			case documented[name]:
				t.Errorf("%q is in two rows", name)
			default:
				if v.basis != row[2] {
					t.Errorf("%q is charged what is %q, and documented as %q", name, v.basis, row[2])
				}
				if diff := cmp.Diff(settingsOf(t, v), strings.Join(pages.Code(row[3]), ", ")); diff != "" {
					t.Errorf("%q: settings (-given +documented):\n%s", name, diff)
				}
			}
			documented[name] = true
		}
	}
	for name := range doubles {
		if !documented[name] {
			t.Errorf("the double %q is not documented", name)
		}
	}
}

// settingsOf are the settings that a double needs, in the order in which they are documented: those with one of a few words as their
// value with it.
func settingsOf(t *testing.T, v variant) string {
	t.Helper()
	var upstream map[string]any
	var models map[string]map[string]any
	if err := yaml.Unmarshal([]byte("{"+v.extra+"}"), &upstream); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(v.models), &models); err != nil {
		t.Fatal(err)
	}
	var settings []string
	for name, value := range upstream {
		if name == "usage" {
			name += ": " + value.(string)
		}
		settings = append(settings, name)
	}
	slices.Sort(settings)
	for _, m := range models {
		if member, given := m["output_member"].(string); given {
			settings = append(settings, "output_member: "+member)
		}
	}
	return strings.Join(settings, ", ")
}

// sdkPackages are the packages of the matrix's clients, by their names in test/node/package.json or in go.mod.
var sdkPackages = map[string]string{
	"openai7": "openai", "openai6": "openai6", "openai5": "openai5", "openai4": "openai4",
	"ai-openai": "@ai-sdk/openai", "ai-compatible": "@ai-sdk/openai-compatible", "langchain": "@langchain/openai",
	"openai-go": "github.com/openai/openai-go/v3", "go-openai": "github.com/sashabaranov/go-openai",
}

// sdkPlaces are the endpoints that operations of the matrix go to, as the document calls them. Loops of tools go where others go.
var sdkPlaces = map[string]string{
	"chat": "chat", "structured": "chat", "response": "responses", "countInput": "input tokens", "completion": "completions", "embed": "embeddings", "moderate": "moderations",
	"picture": "generations", "pictureEdit": "edits", "pictureVariation": "variations", "speech": "speech",
	"transcribe": "transcriptions", "translate": "translations", "models": "models",
}

// sdkOrder is the order in which the document lists them.
var sdkOrder = []string{
	"chat", "responses", "input tokens", "completions", "embeddings", "moderations", "generations", "edits", "variations", "speech", "transcriptions", "translations", "models",
}

// sdkStored are the ways in which operations of the matrix use what is stored, as the document calls them.
var sdkStored = map[string]string{
	"countInputOf": "`previous_response_id`", "goOn": "`previous_response_id`", "loopOn": "`previous_response_id`", "loopItems": "`item_reference`",
	"loopOwn": "`item_reference`", "loopWhole": "reasoning", "converse": "`conversation`", "fileInput": "`file_id`",
	"keepResponse": "responses", "keepChat": "completions", "keepConversation": "conversations", "keepFile": "files",
}

// sdkNaming and sdkKeeping are the orders in which the document lists how it is named, and what is read and deleted.
var (
	sdkNaming  = []string{"`previous_response_id`", "`item_reference`", "reasoning", "`conversation`", "`file_id`"}
	sdkKeeping = []string{"responses", "completions", "conversations", "files"}
)

// TestWireDocClients: every client of the matrix has its row, with the version that is installed, the endpoints that its checks go to and what of
// the stored they name and keep.
func TestWireDocClients(t *testing.T) {
	rows := map[string][]string{}
	var above []string
	for _, row := range pages.Read(t, wirePage).Table(t, "| client | package |") {
		for i := range row {
			if row[i] == "the same" && above != nil {
				row[i] = above[i]
			}
		}
		name := strings.Trim(row[0], "`")
		if rows[name] != nil {
			t.Errorf("%s has two rows", name)
		}
		rows[name], above = row, row
	}
	for _, c := range sdkClients() {
		row := rows[c.name]
		if row == nil {
			t.Errorf("the client %s is not documented", c.name)
			continue
		}
		delete(rows, c.name)
		want := append([]string{row[0], installed(t, c.name)}, covered(t, c)...)
		if diff := cmp.Diff(want, row); diff != "" {
			t.Errorf("%s (-is +documented):\n%s", c.name, diff)
		}
	}
	for name := range rows {
		t.Errorf("the client %s is documented, and not in the matrix", name)
	}
}

// covered lists the endpoints to which the checks of a client go, plain and streamed, and what of the stored they name and keep.
func covered(t *testing.T, c sdkClient) []string {
	t.Helper()
	plain, streamed, stored := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, check := range sdkChecks() {
		do := check.ask.Do
		if !slices.Contains(c.can, do) || slices.Contains(check.not, c.name) || strings.HasPrefix(do, "toolLoop") {
			continue
		}
		operation, stream := strings.CutSuffix(do, "Stream")
		switch place := sdkPlaces[operation]; {
		case sdkStored[operation] != "":
			stored[sdkStored[operation]] = true
		case place == "":
			t.Errorf("it is not known where %s goes", do)
		case stream:
			streamed[place] = true
		default:
			plain[place] = true
		}
	}
	list := func(order []string, there map[string]bool) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(order), func(place string) bool { return !there[place] }), ", ")
	}
	return []string{list(sdkOrder, plain), list(sdkOrder, streamed), list(sdkNaming, stored), list(sdkKeeping, stored)}
}

// installed is the package of a client, and its version.
func installed(t *testing.T, client string) string {
	t.Helper()
	name := sdkPackages[client]
	if strings.HasPrefix(name, "github.com/") {
		for line := range strings.Lines(text(t, "../go.mod")) {
			if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == name {
				return "`" + name + "` " + fields[1]
			}
		}
		t.Fatalf("go.mod has no %s", name)
	}
	var manifest struct{ Dependencies map[string]string }
	if err := json.Unmarshal([]byte(text(t, "node/package.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	version := manifest.Dependencies[name]
	if alias, ok := strings.CutPrefix(version, "npm:"); ok {
		name, version, _ = strings.Cut(alias, "@")
	}
	if version == "" {
		t.Fatalf("package.json has no %q, the package of %s", name, client)
	}
	return "`" + name + "` " + version
}

var (
	testName = regexp.MustCompile(`\bTest[A-Z]\w*`)
	header   = regexp.MustCompile(`(?i)\b(?:x-[a-z]|retry-after|openai-[a-z]+-)[a-z-]*`)
	setting  = regexp.MustCompile(`^"?([a-zA-Z_]+)"?: `)
)

// TestWireDocNames: tests, headers and settings that the document names exist.
func TestWireDocNames(t *testing.T) {
	page := pages.Read(t, wirePage).Text
	tests, product := sources(t, true), sources(t, false)
	for _, name := range testName.FindAllString(page, -1) {
		if !strings.Contains(tests, "\nfunc "+name+"(t *testing.T)") {
			t.Errorf("there is no test %s", name)
		}
	}
	headers := 0
	for _, code := range pages.Code(page) {
		if slices.ContainsFunc(allVariants(), func(v variant) bool { return v.name == code }) {
			continue
		}
		if name := header.FindString(code); name != "" && name == code {
			headers++
			if !regexp.MustCompile(`(?i)["` + "`]" + regexp.QuoteMeta(name) + `["` + "`]").MatchString(product) {
				t.Errorf("no code knows a header %s", name)
			}
		}
		if found := setting.FindStringSubmatch(code); found != nil && !regexp.MustCompile(`"`+found[1]+`[":]`).MatchString(product) {
			t.Errorf("no code knows a member %q, of `%s`", found[1], code)
		}
	}
	if headers < 10 {
		t.Errorf("only %d headers were found in the document", headers)
	}
	for _, name := range []string{"output", "output_member", "usage", "auth", "query", "state", "cors", "timeouts", "draw", "ca_file", "max_body"} {
		if !regexp.MustCompile("`" + name + "(: [a-z_]+)?`").MatchString(page) {
			t.Errorf("the document does not name %s", name)
		}
		if !strings.Contains(product, `{"`+name+`", `) {
			t.Errorf("the configuration has no %s", name)
		}
	}
}

// sources are all of the module's files in Go, those of its tests or the others.
func sources(t *testing.T, tests bool) string {
	t.Helper()
	var b strings.Builder
	for _, root := range []string{"../proxy", "../cmd", "../cost", "../limiter", "."} {
		if err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() && entry.Name() == "node_modules" {
				return filepath.SkipDir
			}
			if strings.HasSuffix(path, ".go") && strings.HasSuffix(path, "_test.go") == tests && (tests || root != ".") {
				b.WriteString(text(t, path))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
