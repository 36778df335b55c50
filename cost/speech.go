package cost

// Speech is what a request asks a model to say aloud. The zero value asks for nothing.
type Speech struct {
	Characters int64 // of the text
	Bytes      int64 // of the text in UTF-8
	Signs      int64 // of its characters, digits and signs: they take longer to say than to write
	Slowed     int64 // how many times slower than usual it is to be said, in hundredths; below 100 is read as 100
}

// speechTokens is output tokens for each byte of text: a token is 50 ms of speech (OpenAI's guide to the costs of the
// Realtime API), and few speakers need more than 100 ms for a byte, in English as in Chinese.
const speechTokens = 2

// signTokens is output tokens for each digit or sign, besides: most are a word when they are said.
const signTokens = 8

// tokens is what the speech takes as output, generously.
func (s Speech) tokens() int64 {
	usual := saturatingAdd(saturatingMul(max(0, s.Bytes), speechTokens), saturatingMul(max(0, s.Signs), signTokens))
	return ceilDiv(saturatingMul(usual, max(100, s.Slowed)), 100)
}
