// Package simulated is an OpenAI upstream that needs no account and no network: the demo's stand-in for the real one.
//
// It speaks the chat completions format byte for byte as OpenAI's clients expect it, whole or streamed, counts usage, and
// takes about as long as a small model would, so that what is shown in front of it (budgets, reservations, refusals) behaves
// as it will behave in earnest.
//
//	upstream := simulated.New(simulated.Options{Count: estimator.Count})
//	go http.Serve(listener, upstream) // base URL: http://<listener>/v1
//
// An answer is one completion of a prompt; it is made of pieces, and each piece is one chunk of a stream. The same model and
// messages always give the same text, with the same pauses: composed from a fixed set of sentences around the words of the
// last user message, and honest about being simulated.
//
// It will not call tools, look at images or audio, follow response_format or stop sequences, keep state between calls, or
// limit anybody. Any bearer key is accepted. Nothing here is meant to face anything but loopback.
package simulated
