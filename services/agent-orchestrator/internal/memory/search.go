package memory

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// The parameters of BM25.
const (
	k1 = 1.2
	b  = 0.75
)

// Hit is an item that fits a query.
type Hit struct {
	Item
	Score float64
}

// Search returns the items that share words with a query, the best first, by Okapi BM25 over the items.
func Search(items []Item, query string, most int) []Hit {
	documents := make([]map[string]int, len(items))
	lengths := make([]float64, len(items))
	with, total := map[string]int{}, 0.0
	for i := range items {
		documents[i] = map[string]int{}
		for _, word := range words(items[i].Content) {
			documents[i][word]++
			lengths[i]++
		}
		for word := range documents[i] {
			with[word]++
		}
		total += lengths[i]
	}
	average := max(1, total/float64(max(1, len(items))))
	asked := words(query)
	slices.Sort(asked)
	asked = slices.Compact(asked)
	var hits []Hit
	for i := range items {
		score := 0.0
		for _, word := range asked {
			tf, n := float64(documents[i][word]), float64(with[word])
			if tf > 0 {
				idf := math.Log(1 + (float64(len(items))-n+0.5)/(n+0.5))
				score += idf * tf * (k1 + 1) / (tf + k1*(1-b+b*lengths[i]/average))
			}
		}
		if score > 0 {
			hits = append(hits, Hit{items[i], score})
		}
	}
	slices.SortStableFunc(hits, func(x, y Hit) int { return cmp.Compare(y.Score, x.Score) }) // of equals the last changed first
	return hits[:min(len(hits), most)]
}

// words divides a text: words of letters and digits without the endings of English plurals, and of Chinese and Japanese every character and every pair.
func words(text string) (out []string) {
	var word []rune
	var before rune
	end := func() {
		if len(word) > 0 {
			out = append(out, singular(string(word)))
			word = word[:0]
		}
	}
	for _, r := range strings.ToLower(text) {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			end()
			out = append(out, string(r))
			if before != 0 {
				out = append(out, string([]rune{before, r}))
			}
			before = r
			continue
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			word = append(word, r)
		default:
			end()
		}
		before = 0
	}
	end()
	return out
}

// singular takes the ending of a plural off, so that "reports" finds "report".
func singular(word string) string {
	switch {
	case len(word) > 4 && strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us"):
		return word[:len(word)-1]
	}
	return word
}
