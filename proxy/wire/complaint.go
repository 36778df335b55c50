package wire

// A complaint is what the names of an object's members say of it: servers and what stands before them write errors of other shapes than
// OpenAI's, as {"detail": ...}.
type complaint uint8

const (
	noComplaint complaint = iota
	complains             // no member but such as tell what is wrong, and what goes with them
	saysMore              // there are others, which may be a model's
)

// and takes one more member into account. A message is what some servers call an answer.
func (c complaint) and(name []byte) complaint {
	if c == saysMore {
		return saysMore
	}
	switch string(name) {
	case "detail", "details", "errors", "error_message", "error_msg", "msg":
		return complains
	case "title", "status", "status_code", "type", "instance", "code", "error_code", "success", "request_id", "trace_id", "timestamp", "path":
		return c
	default:
		return saysMore
	}
}
