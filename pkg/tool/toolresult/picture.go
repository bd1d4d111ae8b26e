package toolresult

import "bytes"

// MediaType returns the type of a picture in base64, by how it begins: PNG where it does not show another one. JPEG begins with
// FF D8 FF. A slash may be written as JSON allows, with a backslash before it.
func MediaType(picture []byte) string {
	switch {
	case bytes.HasPrefix(picture, []byte("/9j/")), bytes.HasPrefix(picture, []byte(`\/9j\/`)):
		return "image/jpeg"
	case bytes.HasPrefix(picture, []byte("UklGR")):
		return "image/webp"
	}
	return "image/png"
}

// prefix makes a base64 picture a data: URL; one that is a data: URL already has none.
func prefix(picture []byte) string {
	if bytes.HasPrefix(picture, []byte("data:")) {
		return ""
	}
	return "data:" + MediaType(picture) + ";base64,"
}
