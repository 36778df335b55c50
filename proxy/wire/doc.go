// Package wire knows OpenAI's formats: it reads requests to every endpoint that costs something, splices named changes into
// them, and reads the answers to chats while they pass by. It knows no HTTP, no budgets and no keys.
//
// The words it uses: a request body is read into a Request, by the dialect of its Endpoint or as a form; an Edit is a named
// splice into its bytes; a Ref is
// what it names of what the provider stores, and Made notes what is stored of an answer; an Answer is an upstream's body on its way to the caller, with a Report of what went by; an Error
// is a refusal in OpenAI's shape.
//
//	req, err := wire.Read(wire.Chat, contentType, body) // strict: what we read is what the provider will read
//	body = req.Edit(wire.Edits{IncludeUsage: true})
//	…
//	answer := wire.NewAnswer(resp.Body, wire.AnswerOptions{Stream: req.Stream, Withhold: !req.IncludeUsage, Count: count})
//	io.Copy(w, answer)
//	report := answer.Report()
//
// Two rules hold everywhere. The bytes parsed are the bytes sent: nothing is decoded and encoded again, so members this
// package does not know survive. And everything from outside is bounded: no input makes it panic, recurse without end,
// hold more than a stated number of bytes, or take more than linear time.
//
// It does not judge whether a request makes sense to the provider (an unknown role, a temperature of 9): the provider
// does that better. It judges only what changes what the call costs.
package wire
