package llm

import "unicode/utf8"

const (
	perMessage = 4 // what a message costs beyond its text
	perTool    = 8
)

// Estimate returns about how many tokens a request takes: a quarter of its bytes for most text, one for each character of
// scripts that are written without spaces, and half of one for those of others. It is right within a third or so for text
// and code, which is enough to decide when to summarise.
func Estimate(r Request) int {
	sum := 0
	for _, m := range r.Messages {
		sum += perMessage + tokens(m.Content)
		for _, c := range m.Calls {
			sum += perTool + tokens(c.Name) + tokens(c.Args)
		}
	}
	for _, f := range r.Tools {
		sum += perTool + tokens(f.Name) + tokens(f.Description) + len(f.Parameters)/4
	}
	return sum
}

func estimateAnswer(a Answer) int {
	sum := tokens(a.Text)
	for _, c := range a.Calls {
		sum += perTool + tokens(c.Name) + tokens(c.Args)
	}
	return sum
}

// or is u, with the values of estimated for those that the endpoint has left out.
func (u Usage) or(other func() Usage) Usage {
	if u == (Usage{}) {
		return other()
	}
	return u
}

func tokens(s string) int {
	quarters := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			quarters++
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if dense(r) {
			quarters += 4
		} else {
			quarters += 2
		}
		i += size
	}
	return (quarters + 3) / 4
}

// dense reports whether a character takes about one token: Chinese, Japanese, Korean, and emoji.
func dense(r rune) bool {
	return r >= 0x2E80 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7AF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0xFF00 && r <= 0xFFEF || r >= 0x1F000
}
