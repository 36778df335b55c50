package cost

import "encoding/base64"

// AudioOfFile is [AudioOf] for a recording that is not in base64.
func AudioOfFile(file []byte) Audio {
	return AudioOf([]byte(base64.StdEncoding.EncodeToString(file)))
}

// ImageOfFile is [ImageOf] for an image that is not in base64.
func ImageOfFile(file []byte, detail Detail) Image {
	return ImageOf([]byte("data:;base64,"+base64.StdEncoding.EncodeToString(file)), detail)
}
