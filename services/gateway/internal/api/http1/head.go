package http1

import (
	"bytes"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// end is what endOf found.
type end int

const (
	partial end = iota // there is more to come
	whole
	foreign // it is not ordinary, whatever may follow
)

// endOf finds the end of the head at the beginning of b: n bytes with the empty line.
func endOf(b []byte) (n int, found end) {
	for {
		i := bytes.IndexByte(b[n:], '\n')
		switch {
		case i < 0:
			return 0, partial
		case i == 0 || b[n+i-1] != '\r':
			return 0, foreign
		case i == 1 && n == 0: // net/http knows where an empty line may come first
			return 0, foreign
		case i == 1:
			return n + 2, whole
		}
		n += i + 1
	}
}

// methods are those of ordinary requests.
var methods = [...]string{http.MethodPost, http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch}

// parse reads a head that endOf has found whole into r. It reports false, and may have changed r, for one that is not ordinary. The body
// is left out.
func parse(head string, r *http.Request) bool {
	line, rest, _ := strings.Cut(head, "\r\n")
	target, ok := strings.CutSuffix(line, " HTTP/1.1")
	if !ok {
		return false
	}
	for _, m := range methods {
		if len(target) > len(m)+1 && target[:len(m)] == m && target[len(m)] == ' ' {
			r.Method, r.RequestURI = m, target[len(m)+1:]
			break
		}
	}
	if r.Method == "" || !parseTarget(r) {
		return false
	}
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	return parseFields(rest, r) && r.Host != ""
}

func parseTarget(r *http.Request) bool {
	t := r.RequestURI
	if t[0] != '/' {
		return false
	}
	plain := !strings.HasPrefix(t, "//")
	for i := range len(t) {
		switch c := t[i]; {
		case c <= ' ' || c >= 0x7f:
			return false
		case !pathByte[c]:
			plain = false
		}
	}
	if plain {
		r.URL = &url.URL{Path: t}
		return true
	}
	var err error
	r.URL, err = url.ParseRequestURI(t)
	return err == nil
}

// parseFields reads the lines after the first one, up to the empty one.
func parseFields(rest string, r *http.Request) bool {
	count := strings.Count(rest, "\r\n") - 1
	r.Header = make(http.Header, count)
	values := make([]string, count) // of all fields: most have one value
	length := false
	for {
		line, more, found := strings.Cut(rest, "\r\n")
		if line == "" {
			return found && more == ""
		}
		rest = more
		name, value, found := strings.Cut(line, ":")
		if !found || !isToken(name) {
			return false
		}
		if value = strings.Trim(value, " \t"); !isValue(value) {
			return false
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		switch name {
		case "Host":
			if r.Host != "" || !httpguts.ValidHostHeader(value) {
				return false
			}
			r.Host = value
			continue
		case "Content-Length":
			var ok bool
			if r.ContentLength, ok = parseLength(value); !ok || length {
				return false
			}
			length = true
		case "Connection":
			if value == "close" {
				r.Close = true
			} else if value != "keep-alive" || r.Header[name] != nil {
				return false
			}
		case "Transfer-Encoding", "Upgrade", "Expect", "Trailer", "Te", "Pragma", "Http2-Settings":
			return false
		}
		if had := r.Header[name]; had != nil {
			r.Header[name] = append(had, value)
			continue
		}
		values[0] = value
		r.Header[name], values = values[:1:1], values[1:]
	}
}

// parseLength reads digits, of which no sane body needs more than 18.
func parseLength(s string) (n int64, ok bool) {
	if len(s) > 18 || strings.TrimLeft(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

func isToken(s string) bool {
	for i := range len(s) {
		if !tokenByte[s[i]] {
			return false
		}
	}
	return s != ""
}

func isValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// pathByte has what stands for itself in a path, tokenByte what the name of a field may have.
var pathByte, tokenByte = func() (path, token [256]bool) {
	for c := range 256 {
		alphanumeric := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		path[c] = alphanumeric || c != 0 && c < 128 && strings.ContainsRune("/-._~", rune(c))
		token[c] = alphanumeric || c != 0 && c < 128 && strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c))
	}
	return path, token
}()
