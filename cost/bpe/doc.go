// Package bpe counts tokens as OpenAI's models do, with the vocabularies of their tokenizer tiktoken.
//
//	enc, err := bpe.New("o200k_base")
//	n := enc.Count("hello world") // 2
//
// A vocabulary splits text into pieces by a pattern and merges the bytes of each piece into tokens. Counts equal those of
// tiktoken's encode_ordinary: the names of special tokens ("<|endoftext|>") are ordinary text here, because in a
// caller's prompt they are. No network is used; the vocabularies are part of the program.
//
// # Time
//
// The engine below (github.com/pkoukk/tiktoken-go) merges a piece in quadratic time, and a piece can be as long as the
// text: 100 kB of one letter would take more than ten seconds. So text is cut before it reaches the engine, and no
// piece is longer than MaxPiece bytes; time grows linearly with the text. Cuts fall only inside unbroken runs (of
// letters, of punctuation, of whitespace, of digits) longer than MaxRun bytes, which prose, code and JSON do not
// contain. What a cut changes: merging starts anew behind it, so a token that would have lain across it becomes two or
// three. A cut count is therefore usually a few tokens above the true one for each MaxRun bytes; merging is greedy and
// not optimal, so it may by chance be a token below, never materially.
//
// # Where it differs from tiktoken
//
// Bytes that are not valid UTF-8 count as U+FFFD, one for each byte, as Go's JSON decoder reads them. Letters, marks and
// digits are those of Unicode 15, the edition of Go's tables; tiktoken knows Unicode 16, so text in the scripts that
// edition added may count differently by a few tokens.
package bpe
