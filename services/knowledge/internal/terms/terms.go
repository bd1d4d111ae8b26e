package terms

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/blevesearch/segment"
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/go-ego/gse"
	"golang.org/x/text/unicode/norm"
)

// maxTerm is how many bytes a term may have: of a longer word, this much of its beginning counts.
const maxTerm = 96

// Of returns the terms of a text, in order.
func Of(text string) []string {
	text = strings.ToLower(norm.NFKC.String(text))
	words := segment.NewWordSegmenterDirect([]byte(text))
	var out []string
	var chinese strings.Builder // ideographs that stand together
	flush := func() {
		if chinese.Len() > 0 {
			out = append(out, cut(chinese.String())...)
			chinese.Reset()
		}
	}
	for words.Segment() {
		word := words.Bytes()
		switch words.Type() {
		case segment.Ideo:
			chinese.Write(word)
			continue
		case segment.None:
			if len(word) == 0 {
				continue
			}
			flush()
			continue
		}
		flush()
		out = append(out, stem(bounded(string(word))))
	}
	flush()
	return out
}

func bounded(word string) string {
	if len(word) <= maxTerm {
		return word
	}
	word = word[:maxTerm]
	for len(word) > 0 && !utf8.ValidString(word) {
		word = word[:len(word)-1]
	}
	return word
}

// stem returns the stem of an English word, and any other word as it is.
func stem(word string) string {
	for i := range len(word) {
		if c := word[i]; (c < 'a' || c > 'z') && c != '\'' {
			return word
		}
	}
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	return env.Current()
}

// dictionary is read when the first Chinese text comes: it takes a second and some ten MiB.
var dictionary = sync.OnceValues(func() (*gse.Segmenter, error) {
	seg := &gse.Segmenter{SkipLog: true}
	return seg, seg.LoadDictEmbed("zh")
})

// cut parts Chinese into words, long ones beside the shorter ones in them; into single characters where there is no dictionary.
func cut(text string) []string {
	seg, err := dictionary()
	if err != nil {
		return strings.Split(text, "")
	}
	var out []string
	for _, word := range seg.CutSearch(text, true) {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, bounded(word))
		}
	}
	return out
}
