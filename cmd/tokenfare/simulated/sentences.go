package simulated

// openings answer the question directly: {words} is how long it was, {topic} what it seems to be about.
var openings = []string{
	"You sent {words}, and the one I keep coming back to is {topic}.",
	"I read your {words} twice, and it is {topic} that holds them together.",
	"Let me begin with {topic}, since most of your {words} lead there.",
	"Out of {words} you gave me, {topic} deserves the first look.",
}

// sentences follow in an order of their own for every prompt, none of them twice. Plain ASCII: no terminal garbles them.
var sentences = []string{
	"I should say that I am a simulated model, so take what I write about {topic} as scenery.",
	"A good plan for {topic} fits on one page and survives its first surprise.",
	"Most people start with the hard part; it is often kinder to start with the part that can be finished today.",
	"Picture a small harbour in the morning, where every boat pays its fare before it leaves the quay.",
	"The keeper of the gate counts twice: once when a boat leaves, and once when it comes home.",
	"What was set aside and never used goes back into the jar, and nobody has to ask for it.",
	"If you measure {topic} before you change it, you will know afterwards whether you helped.",
	"There is an old rule that a queue moves faster when everyone can see its end.",
	"Waiting is easier when somebody tells you how long, and easier still when they turn out to be right.",
	"Rain fills the barrel at its own pace, no matter how loudly the gardener complains.",
	"So it is worth knowing the size of the barrel before you promise water to the whole street.",
	"Two neighbours sharing one well need a ledger more than they need a fence.",
	"The cost of {topic} rarely grows in a straight line, and the bill arrives a month later.",
	"Small limits that are kept teach more than large ones that are argued about.",
	"A clear refusal is a kind of help: it names the reason, the wait and the way around.",
	"Write down what you expect first, because memory is generous to whoever owns it.",
	"The best tools are quiet, and you notice them on the day they are missing.",
	"I would try {topic} with one friend before offering it to a hundred strangers.",
	"Numbers tell you where to look, and looking tells you what the numbers meant.",
	"An honest estimate has a range, a reason and a date on it.",
	"By noon the harbour is busy, and still no boat has left without paying.",
	"Somebody always asks for one exception, and it is always a reasonable one.",
	"The answer is to make the rule so simple that the exception can be written beside it.",
	"In the evening the keeper adds up both columns, and they agree to the last coin.",
	"That is all there is to the trick: take first, serve second, and square the account at once.",
	"Perhaps the same goes for {topic}, once you have walked around it slowly.",
	"Ask me again with other words and I will happily tell you something else.",
	"Either way, I hope this gives you a place to begin.",
}

// commonWords are never a question's topic.
var commonWords = []string{
	"about", "after", "again", "also", "answer", "because", "been", "before", "being", "could", "does", "each", "every",
	"explain", "from", "give", "have", "hello", "here", "into", "just", "know", "like", "long", "make", "many", "more",
	"most", "much", "only", "other", "please", "sentence", "sentences", "short", "should", "some", "such", "tell", "than",
	"that", "their", "them", "then", "there", "these", "they", "this", "those", "very", "want", "were", "what", "when",
	"where", "which", "while", "will", "with", "word", "words", "would", "write", "your",
}
