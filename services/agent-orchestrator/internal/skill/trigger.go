package skill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// message is a text in which triggers are looked for.
type message struct{ folded string }

func newMessage(text string) message { return message{fold(text)} }

// fold makes texts comparable: case, how accents are composed, and white space do not count.
func fold(text string) string {
	return strings.Join(strings.Fields(cases.Fold().String(norm.NFC.String(text))), " ")
}

// has reports whether a trigger is in the message as whole words. Between characters of scripts without spaces, such as Chinese,
// and beside them, a word may begin and end anywhere.
func (m message) has(trigger string) bool {
	wanted := fold(trigger)
	if wanted == "" {
		return false
	}
	first, _ := utf8.DecodeRuneInString(wanted)
	last, _ := utf8.DecodeLastRuneInString(wanted)
	for from := 0; ; {
		i := strings.Index(m.folded[from:], wanted)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(wanted)
		before, _ := utf8.DecodeLastRuneInString(m.folded[:start])
		after, _ := utf8.DecodeRuneInString(m.folded[end:])
		if !(inWord(before) && inWord(first)) && !(inWord(last) && inWord(after)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(m.folded[start:])
		from = start + size
	}
}

// inWord reports whether a character is part of a word that spaces divide from others.
func inWord(r rune) bool {
	if r == utf8.RuneError || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}
