package errs

import "strconv"

// Place is where in a text of lines and keys a fault is. It travels in the metadata of google.rpc.ErrorInfo, and REST has its
// members in the problem.
type Place struct {
	// Line counts from 1, from the text's first.
	Line int `json:"line"`
	// Key is the one whose value is at fault; "" for none.
	Key string `json:"key"`
}

// The members of ErrorInfo's metadata.
const (
	metaLine = "line"
	metaKey  = "key"
)

// describe adds p to the metadata of an ErrorInfo.
func (p *Place) describe(metadata map[string]string) {
	metadata[metaLine], metadata[metaKey] = strconv.Itoa(p.Line), p.Key
}

// readPlace is the inverse of describe; nil where the metadata has no place.
func readPlace(metadata map[string]string) *Place {
	line, err := strconv.Atoi(metadata[metaLine])
	if err != nil {
		return nil
	}
	return &Place{Line: line, Key: metadata[metaKey]}
}
