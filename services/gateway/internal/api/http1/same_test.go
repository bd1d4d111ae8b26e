package http1_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// handler does what handlers do, as its path says, and answers with what it has seen of its request.
func handler(w http.ResponseWriter, r *http.Request) {
	saw := func() string {
		body, err := io.ReadAll(r.Body)
		return fmt.Sprintf("%s %s host %s length %d close %t %v body %q %v", r.Method, r.URL, r.Host, r.ContentLength, r.Close, r.Header, body, err)
	}
	switch r.URL.Path {
	case "/silent":
	case "/none":
		w.WriteHeader(http.StatusNoContent)
		_, err := io.WriteString(w, "x")
		if !errors.Is(err, http.ErrBodyNotAllowed) {
			panic(err)
		}
	case "/same":
		w.Header().Set("ETag", `"a"`)
		w.WriteHeader(http.StatusNotModified)
	case "/flushed":
		for _, part := range []string{"a", "", strings.Repeat("b", 5000), "c"} {
			_, _ = io.WriteString(w, part)
			w.(http.Flusher).Flush()
		}
	case "/large":
		for range 5 {
			_, _ = io.WriteString(w, strings.Repeat("x", 3000))
		}
		_, _ = io.WriteString(w, strings.Repeat("y", 100_000))
	case "/measured":
		w.Header().Set("Content-Length", "5007")
		_, _ = io.WriteString(w, "before ")
		_, _ = io.WriteString(w, strings.Repeat("y", 5000))
		if _, err := io.WriteString(w, "more"); !errors.Is(err, http.ErrContentLength) {
			panic(err)
		}
	case "/short":
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "four")
	case "/goodbye":
		w.Header().Set("Connection", "close")
		_, _ = io.WriteString(w, saw())
	case "/unread":
		_, _ = io.WriteString(w, "unread")
	case "/twice":
		w.WriteHeader(http.StatusTeapot)
		w.WriteHeader(http.StatusOK)
		w.Header().Set("Late", "1")
	case "/hints":
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Bad\nName", "x")
		w.Header().Set("Split", "a\r\nSet-Cookie: b")
		w.Header()["Many"] = []string{"1", "2"}
		_, _ = io.WriteString(w, "<html>")
	case "/panic":
		_, _ = io.WriteString(w, "never seen")
		panic(http.ErrAbortHandler)
	case "/late":
		_, _ = io.WriteString(w, saw())
		_, err := r.Body.Read(make([]byte, 1))
		_, _ = fmt.Fprint(w, " then ", err)
	case "/odd":
		w.WriteHeader(599)
	default:
		_, _ = io.WriteString(w, saw())
	}
}

// scripts are what a client sends on one connection. Each is followed by a request that closes it.
var scripts = map[string][]string{
	"pipelined":           {get("/1"), get("/2"), request("POST", "/3", "abc", "Content-Length: 3"), get("/4")},
	"all kinds of answer": {get("/silent"), get("/none"), get("/same"), get("/flushed"), get("/large"), get("/twice"), get("/hints"), get("/odd")},
	"HEAD": {request("HEAD", "/", ""), request("HEAD", "/flushed", ""), request("HEAD", "/measured", ""), request("HEAD", "/silent", ""),
		request("HEAD", "/none", ""), get("/after")},
	"a short answer ends the connection": {get("/short"), get("/never")},
	"so does one that is too long":       {get("/measured"), get("/never")},
	"a handler closes":                   {get("/goodbye"), get("/never")},
	"a client closes":                    {get("/", "Connection: close"), get("/never")},
	"a handler aborts":                   {get("/a"), get("/panic"), get("/never")},
	"a body that nobody reads":           {request("POST", "/unread", strings.Repeat("x", 9000), "Content-Length: 9000"), get("/after")},
	"a body and then a request":          {request("POST", "/", "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", "Content-Length: 37"), get("/after")},
	"a body is read too late":            {request("POST", "/late", "abc", "Content-Length: 3"), get("/after")},
	"both lengths":                       {request("POST", "/", "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", "Content-Length: 5", "Transfer-Encoding: chunked"), get("/after")},
	"both lengths, other order":          {request("POST", "/", "3\r\nabc\r\n0\r\n\r\n", "Transfer-Encoding: chunked", "Content-Length: 3"), get("/after")},
	"two lengths":                        {request("POST", "/", "abcde", "Content-Length: 3", "Content-Length: 5"), get("/never")},
	"two same lengths":                   {request("POST", "/", "abc", "Content-Length: 3", "Content-Length: 3"), get("/after")},
	"a coding with a tab":                {request("POST", "/", "3\r\nabc\r\n0\r\n\r\n", "Transfer-Encoding:\tchunked"), get("/after")},
	"a coding nobody knows":              {request("POST", "/", "abc", "Transfer-Encoding: xchunked", "Content-Length: 3"), get("/never")},
	"a folded coding":                    {request("POST", "/", "3\r\nabc\r\n0\r\n\r\n", "Transfer-Encoding:\r\n chunked"), get("/after")},
	"a name with a space":                {request("POST", "/", "abc", "Content-Length : 3"), get("/never")},
	"chunks":                             {request("POST", "/", "3\r\nabc\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), get("/after")},
	"chunks with a trailer":              {request("POST", "/", "3\r\nabc\r\n0\r\nA: b\r\n\r\n", "Transfer-Encoding: chunked", "Trailer: A"), get("/after")},
	"ordinary, then chunks":              {get("/1"), request("POST", "/", "3\r\nabc\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), get("/after")},
	"lines that end with LF":             {"GET / HTTP/1.1\nHost: x\n\n", get("/after")},
	"one line that ends with LF":         {"GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", get("/after")},
	"empty lines after a POST":           {request("POST", "/", "abc", "Content-Length: 3"), "\r\n\r\n", get("/after")},
	"empty lines after a GET":            {get("/"), "\r\n", get("/never")},
	"HTTP/1.0":                           {"GET / HTTP/1.0\r\nHost: x\r\n\r\n", get("/never")},
	"HTTP/1.0 that stays":                {"GET / HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n", get("/after")},
	"the preface of HTTP/2":              {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
	"TLS":                                {"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00\r\n"},
	"no host":                            {"GET / HTTP/1.1\r\n\r\n", get("/never")},
	"an empty host":                      {"GET / HTTP/1.1\r\nHost:\r\n\r\n", get("/after")},
	"two hosts":                          {get("/", "Host: y"), get("/never")},
	"a host that is none":                {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", get("/never")},
	"an absolute target":                 {"GET http://y/p HTTP/1.1\r\nHost: x\r\n\r\n", get("/after")},
	"a target of two slashes":            {get("//x/y"), get("/after")},
	"the server itself":                  {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", get("/after")},
	"a method of its own":                {request("BREW", "/", ""), get("/after")},
	"an upgrade that nobody wants":       {get("/", "Connection: Upgrade", "Upgrade: websocket"), get("/after")},
	"a question before the body":         {request("POST", "/", "abc", "Content-Length: 3", "Expect: 100-continue"), get("/after")},
	"another expectation":                {request("POST", "/", "abc", "Content-Length: 3", "Expect: 200-ok"), get("/never")},
	"a NUL":                              {get("/", "A: b\x00"), get("/never")},
	"bytes that are no text":             {get("/", "A: \xff"), get("/after")},
	"a head of 20 KiB":                   {get("/", "A: "+strings.Repeat("x", 20<<10)), get("/after")},
	"a head of 100 KiB":                  {get("/", "A: "+strings.Repeat("x", 100<<10)), get("/never")},
	"garbage":                            {"\x00\x01\x02\r\n\r\n"},
}

// TestSameAsNetHTTP: whatever a client sends, handlers see and clients get what they would with net/http alone.
func TestSameAsNetHTTP(t *testing.T) {
	t.Parallel()
	ours := start(t, http.HandlerFunc(handler), nil)
	theirs := netHTTP(t, http.HandlerFunc(handler))
	for name, script := range scripts {
		// What comes after the server's last answer may reset the connection, before that is read.
		ends := strings.Contains(strings.Join(script, ""), "/never")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Join(script, "") + get("/last", "Connection: close")
			heads := strings.Count(text, "HEAD /")
			want := talk(t, theirs, text, heads, len(text))
			if got := talk(t, ours.addr, text, heads, len(text)); got != want {
				t.Errorf("at once:\n%s\nnet/http says:\n%s", got, want)
			}
			if len(text) > 5000 || ends {
				return
			}
			if got := talk(t, ours.addr, text, heads, 7); got != want {
				t.Errorf("in pieces:\n%s\nnet/http says:\n%s", got, want)
			}
		})
	}
}

func netHTTP(t *testing.T, h http.Handler) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

// talk sends a text in pieces of a size, and describes the answers, of which the first ones are those to HEAD.
func talk(t *testing.T, addr, text string, heads, size int) string {
	t.Helper()
	c := dial(t, addr)
	go func() {
		for len(text) > 0 {
			n := min(size, len(text))
			if _, err := io.WriteString(c, text[:n]); err != nil {
				return // the server has closed
			}
			text = text[n:]
		}
	}()
	var b strings.Builder
	in := bufio.NewReader(c)
	for i := 0; ; i++ {
		method := http.MethodGet
		if i < heads {
			method = http.MethodHead
		}
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "reset") {
				return b.String() + "end"
			}
			return b.String() + err.Error()
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.Header.Get("Date") == "" && resp.StatusCode == http.StatusOK {
			t.Error("an answer has no date")
		}
		resp.Header.Del("Date")
		if err != nil && strings.Contains(err.Error(), "reset") {
			err = nil // what the server did not read may reset the connection, here as there
		}
		text := string(body)
		if len(text) > 300 {
			text = text[:300] + strconv.Itoa(len(text))
		}
		fmt.Fprintf(&b, "%d %s %v length %d %v close %t: %q %v\n", resp.StatusCode, resp.Proto, resp.Header, resp.ContentLength,
			resp.TransferEncoding, resp.Close, text, err)
	}
}
