// Package fakeopenai is a scripted upstream for black-box tests. It listens on loopback, speaks OpenAI's exact format
// for every endpoint that costs something, streamed and not, and for GET /v1/models, and has every bad day a test can ask
// for: error statuses, resets, half an answer, silence, floods, broken framing.
//
// An [Answer] scripts one response. [Server.Always] sets the answer for a model, [Server.Next] queues answers that are
// used up one by one before it:
//
//	up := fakeopenai.New(t)
//	up.Always("gpt-4o-mini", fakeopenai.Answer{Text: []string{"one", " two"}})
//	up.Next("gpt-4o-mini", fakeopenai.Answer{Status: 500})
//
// Everything that arrives is recorded as a [Call]: headers, body, the tokens asked for, when the client went away and
// the bytes that were sent to it. [Server.PeakExposure] is the check that matters most: the largest sum, at any moment,
// of what finished calls used and running calls may still use.
//
// The fake counts prompts with tiktoken-go and not with the product's own counter, so that the two check each other.
package fakeopenai
