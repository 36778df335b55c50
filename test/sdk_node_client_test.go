package test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// nodeClasses are the classes of the official client's errors.
var nodeClasses = map[int]string{
	400: "BadRequestError", 401: "AuthenticationError", 404: "NotFoundError", 429: "RateLimitError", 500: "InternalServerError",
}

// Operations of the official clients: of all, of those that are no older than version 5, and than 6.
var (
	since4 = []string{
		"chat", "chatStream", "structured", "structuredStream", "response", "responseStream", "toolLoop", "completion", "completionStream",
		"embed", "moderate", "picture", "pictureEdit", "pictureVariation", "speech", "transcribe", "transcribeStream", "translate", "models",
		"goOn", "goOnStream", "loopOn", "loopItems", "loopWhole", "fileInput", "keepResponse", "keepChat", "keepFile",
	}
	since5 = append([]string{"pictureStream", "pictureEditStream", "speechStream"}, since4...)
	since6 = append([]string{"countInput", "countInputOf", "converse", "keepConversation"}, since5...)
)

func sdkClients() []sdkClient {
	ai := map[int]string{}
	for status := range nodeClasses {
		ai[status] = "APICallError"
	}
	goErrors, goOpenAIErrors := map[int]string{}, map[int]string{}
	for status := range nodeClasses {
		goErrors[status], goOpenAIErrors[status] = "*apierror.Error", "*openai.APIError"
	}
	return []sdkClient{
		{name: "openai7", start: nodeSDK("openai:openai"), can: since6, classes: nodeClasses, retries: 2},
		{name: "openai6", start: nodeSDK("openai:openai6"), can: since6, classes: nodeClasses, retries: 2},
		{name: "openai5", start: nodeSDK("openai:openai5"), can: since5, classes: nodeClasses, retries: 2},
		{name: "openai4", start: nodeSDK("openai:openai4"), can: since4, classes: nodeClasses, retries: 2},
		{
			name: "ai-openai", start: nodeSDK("ai:openai"), classes: ai, retries: 2, stubborn: true, asks: true,
			can: []string{
				"chat", "chatStream", "structured", "structuredStream", "response", "responseStream", "toolLoop", "toolLoopStream", "completion", "completionStream",
				"embed", "picture", "pictureEdit", "speech", "transcribe", "goOn", "goOnStream", "loopOwn", "loopOwnStream",
			},
		},
		{
			name: "ai-compatible", start: nodeSDK("ai:compatible"), classes: ai, retries: 2, stubborn: true,
			can: []string{"chat", "chatStream", "structured", "structuredStream", "toolLoop", "toolLoopStream", "completion", "completionStream", "embed", "picture"},
		},
		{
			name: "langchain", start: nodeSDK("langchain"), classes: nodeClasses, retries: 6,
			can: []string{"chat", "chatStream", "structured", "structuredStream", "response", "responseStream", "toolLoop", "completion", "completionStream", "embed", "goOn", "loopWhole"},
		},
		{name: "openai-go", start: startOpenAIGo, can: since6, classes: goErrors, retries: 2},
		{
			name: "go-openai", start: startGoOpenAI, classes: goOpenAIErrors,
			can: []string{
				"chat", "chatStream", "structured", "response", "responseStream", "toolLoop", "completion", "completionStream", "embed", "moderate", "picture", "pictureEdit",
				"pictureVariation", "speech", "transcribe", "translate", "models", "countInput", "countInputOf", "goOn", "fileInput", "keepResponse", "keepFile",
			},
		},
	}
}

// nodeSDK starts node/matrix.mjs with a client. The process ends with the test.
func nodeSDK(client string) func(t *testing.T) func(sdkAsk) sdkSeen {
	return func(t *testing.T) func(sdkAsk) sdkSeen {
		t.Helper()
		if _, err := os.Stat(filepath.Join("node", "node_modules", "openai4")); err != nil {
			t.Fatalf("%v: run npm ci in test/node", err)
		}
		cmd := exec.CommandContext(t.Context(), "node", "matrix.mjs", client)
		cmd.Dir = "node"
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			in.Close()
			cmd.Wait()
		})
		lines := bufio.NewReader(out)
		return func(ask sdkAsk) (seen sdkSeen) {
			t.Helper()
			if err := json.NewEncoder(in).Encode(ask); err != nil {
				t.Fatal(err)
			}
			line, err := lines.ReadBytes('\n')
			if err != nil {
				t.Fatalf("node matrix.mjs %s ended: %v", client, err)
			}
			if err := json.Unmarshal(line, &seen); err != nil {
				t.Fatalf("node matrix.mjs %s printed %q: %v", client, line, err)
			}
			return seen
		}
	}
}
