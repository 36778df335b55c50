package cost

// Part says which member of a request some input belongs to, so that a refusal can name the part that is at fault.
type Part uint8

// The parts of a request. Every input token of an Estimate belongs to exactly one of them.
const (
	PartMessages   Part = iota // message text, names and tool calls
	PartTools                  // tool and function definitions, and the choice among them
	PartSchema                 // the JSON schema of response_format
	PartImages                 // images
	PartAudio                  // input audio
	PartFiles                  // attached files
	PartPrediction             // what the answer is expected to say
	PartHosted                 // what tools find that the provider runs, and all the rest again that is read with it
	PartOverhead               // what the provider's rendering adds around messages and tools
	PartStored                 // what the provider has stored and reads again: earlier turns, and items
	PartOther                  // every other string in the request

	// Parts is the number of parts: the length of Estimate.ByPart.
	Parts = int(PartOther) + 1
)

// String names the part as it is called in messages to people.
func (p Part) String() string {
	switch p {
	case PartMessages:
		return "messages"
	case PartTools:
		return "tools"
	case PartSchema:
		return "response_format"
	case PartImages:
		return "images"
	case PartAudio:
		return "audio"
	case PartFiles:
		return "files"
	case PartPrediction:
		return "prediction"
	case PartHosted:
		return "hosted tools"
	case PartOverhead:
		return "overhead"
	case PartStored:
		return "stored"
	default:
		return "other"
	}
}

// Text is one string of a request that the provider bills as input.
type Text struct {
	Part Part   // where it stands; values out of range count as PartOther
	S    string // decoded text, not its JSON form; schemas as compact JSON
}

// Request holds the facts of a call that an estimate needs, whatever endpoint they came from. Counts are never
// negative; a negative one is read as zero.
type Request struct {
	Model           string   // as the caller wrote it
	Text            []Text   // every string that is billed as input
	PromptIDs       int64    // the prompt, where it is given as token numbers: each is one token, in PartMessages
	TokenIDs        int64    // token numbers elsewhere, in PartOther
	Messages        int      // chat messages; 0 for endpoints without messages (then no reply priming is added)
	Names           int      // messages that carry a name
	FirstSystem     int      // 1 + the index in Text of what the first system message says last; 0: there is no such message
	FunctionResults int      // messages of the role "function"
	FunctionCalls   int      // messages with a function_call; those with tool_calls are added by AddToolCalls
	CallTokens      int64    // what the rendering of tool calls adds, as AddToolCalls counts it
	CallIDs         []string // numbers of tool calls, which OpenAI's models are not shown and some others are
	Tools           []string // tool and function definitions, each as compact JSON
	ToolChoice      string   // which tool must be called, as compact JSON: "none", {"type":"function","function":{"name":"look"}}; or empty
	Images          []Image  // in all messages
	Audio           []Audio  // recordings in all messages
	FileTokens      int64    // of all inline files, as FileTokens gives it

	Stored      int64    // tokens of what the provider has stored and reads again
	Sealed      int64    // tokens of reasoning that only the provider can read, as SealedTokens gives it
	Pictures    Pictures // to be made
	Speech      Speech   // to be spoken
	Transcribes bool     // Audio is to be written down: it is all there is to the call, and some models bill it by its length
	Hosted      []Hosted // tools that the provider runs
	MostHosted  int64    // how often it may run them, as the caller limits it; 0: DefaultHosted
	Tier        Tier     // the service tier asked for

	HasMaxOutput bool  // whether the caller limited the output, or the endpoint has none
	MaxOutput    int64 // that limit in tokens, for each choice: the largest of the members given
	Choices      int64 // answers asked for; values below 1 are read as 1
	Echo         bool  // the answer repeats the prompt
}
