package chunk

import (
	"strings"
	"unicode/utf8"
)

// block is a paragraph, or a block of code between its fences.
type block struct {
	text string
	code bool
}

// blocks takes text apart at blank lines; code between fences is one block.
func blocks(text string) []block {
	var out []block
	var open []string
	fence := ""
	end := func(code bool) {
		if b := strings.Trim(strings.Join(open, "\n"), "\n"); strings.TrimSpace(b) != "" {
			out = append(out, block{b, code})
		}
		open = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			open = append(open, line)
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				fence = ""
				end(true)
			}
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			end(false)
			fence = trimmed[:3]
			open = append(open, line)
		case trimmed == "":
			end(false)
		default:
			open = append(open, strings.TrimRight(line, " \t"))
		}
	}
	end(fence != "")
	return out
}

// code cuts a block of code that is too long: before a declaration, which is a line at the margin after a blank one, else before any
// line at the margin, else before any line. A line that is too long by itself is cut as prose is.
func (p *packer) code(text string) {
	var declaration []string
	flush := func() {
		if len(declaration) == 0 {
			return
		}
		one := strings.Join(declaration, "\n")
		declaration = nil
		if utf8.RuneCountInString(one) <= Most {
			p.block(one, "\n")
			return
		}
		p.flush()
		p.codeLines(one)
	}
	blank := false
	for line := range strings.SplitSeq(text, "\n") {
		margin := line != "" && line[0] != ' ' && line[0] != '\t' && !strings.ContainsAny(line[:1], "})]")
		if blank && margin {
			flush()
		}
		blank = strings.TrimSpace(line) == ""
		declaration = append(declaration, line)
	}
	flush()
	p.flush()
}

func (p *packer) codeLines(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		if utf8.RuneCountInString(line) > Most {
			p.flush()
			p.cut(line)
			continue
		}
		p.block(line, "\n")
	}
	p.flush()
}
