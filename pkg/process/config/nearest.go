package config

// didYouMean returns ", did you mean X?" for the candidate nearest to name, or "" where none is near.
func didYouMean(dashes, name string, candidates []string) string {
	best, distance := "", max(2, len(name)/3)+1
	for _, c := range candidates {
		if d := editDistance(name, c); d < distance {
			best, distance = c, d
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + dashes + best + "?"
}

// editDistance is Levenshtein's, in bytes; "_" and "-" count as the same, since that is the commonest slip.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if fold(a[i]) == fold(b[j]) {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

func fold(c byte) byte {
	if c == '_' {
		return '-'
	}
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
