package cost

const (
	opusHertz = 48_000 // whatever was recorded
	opusMost  = 5_760  // samples that a packet has at most: 120 ms
)

// opusSamples is how many samples a packet has of each channel, by its first two bytes (RFC 6716, section 3): the five
// highest bits say how long a frame is, the two lowest how many there are, and, where those are set, six of the next byte.
func opusSamples(packet []byte) int64 {
	if len(packet) == 0 {
		return 0
	}
	mode := packet[0] >> 3
	var frame int64
	switch {
	case mode < 12: // 10, 20, 40 or 60 ms
		frame = [...]int64{480, 960, 1920, 2880}[mode&3]
	case mode < 16: // 10 or 20 ms
		frame = [...]int64{480, 960}[mode&1]
	default: // 2.5, 5, 10 or 20 ms
		frame = [...]int64{120, 240, 480, 960}[mode&3]
	}
	switch packet[0] & 3 {
	case 0:
		return frame
	case 1, 2:
		return 2 * frame
	default:
		if len(packet) < 2 {
			return 0
		}
		return min(opusMost, int64(packet[1]&63)*frame)
	}
}
