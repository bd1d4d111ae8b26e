package toolname

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxBytes is the length of the longest name.
	MaxBytes = 128
	// MaxTools is how many tools one node may offer.
	MaxTools = 512
)

// Check refuses a name that is empty, longer than [MaxBytes], not UTF-8, or holds a character that is none of a line of
// text: a control character, a line or paragraph separator, or one that turns the direction of what follows. The error
// quotes the name.
func Check(name string) error {
	switch {
	case name == "":
		return fmt.Errorf(`the tool name "" is empty`)
	case len(name) > MaxBytes:
		return fmt.Errorf("the tool name %.64q... has %d bytes, at most %d are allowed", name, len(name), MaxBytes)
	case !utf8.ValidString(name):
		return fmt.Errorf("the tool name %q is not valid UTF-8", name)
	}
	for _, r := range name {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return fmt.Errorf("the tool name %q holds the control character %U", name, r)
		}
	}
	return nil
}

// CheckAll checks the names of one node's tools.
func CheckAll(names []string) error {
	if len(names) > MaxTools {
		return fmt.Errorf("available_tools has %d names, at most %d are allowed", len(names), MaxTools)
	}
	for _, name := range names {
		if err := Check(name); err != nil {
			return fmt.Errorf("available_tools: %w", err)
		}
	}
	return nil
}
