package mcp

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestAnAnswerIsBoundedByItsBytesAndItsValues(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body string
		fits bool
	}{
		"a picture":      {`{"data":"` + strings.Repeat("iVBOR,{[", 3<<20) + `"}`, true},
		"escapes":        {`{"data":"` + strings.Repeat(`\"\\,{`, 1<<20) + `"}`, true},
		"many values":    {`{"content":[` + strings.Repeat(`{},`, 30_000) + `{}]}`, true},
		"too many":       {`{"content":[` + strings.Repeat(`{},`, 100_000) + `{}]}`, false},
		"too many lists": {strings.Repeat(`[`, 200_000), false},
		"too large":      {`"` + strings.Repeat("x", maxAnswer) + `"`, false},
	} {
		for how, r := range map[string]io.Reader{"whole": strings.NewReader(tt.body), "half": iotest.HalfReader(strings.NewReader(tt.body))} {
			f := &flight{}
			n, err := io.Copy(io.Discard, &bounded{body: io.NopCloser(r), left: maxAnswer, flight: f})
			var large *Error
			if tt.fits && (err != nil || n != int64(len(tt.body))) || !tt.fits && (!errors.As(err, &large) || large.Kind != TooMuch || !f.overflowed()) {
				t.Errorf("%s, %s: %d of %d bytes, %v", name, how, n, len(tt.body), err)
			}
		}
	}
}

func TestTheScaleTakesPiecesAsTheyCome(t *testing.T) {
	t.Parallel()
	const text = `{"a,{":[1,"\\\"[",{}],"b":"\\"}`
	var whole, bytewise scale
	n := int64(0)
	for i := range len(text) {
		n += bytewise.values([]byte(text[i : i+1]))
	}
	if got := whole.values([]byte(text)); got != n || n != 6 {
		t.Errorf("%d whole, %d byte by byte", got, n)
	}
}
