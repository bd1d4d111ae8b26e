package http1_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/http1"
)

// ordinary heads are read by this package.
var ordinary = []string{
	"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /api/node/browser/tool HTTP/1.1\r\nHost: 127.0.0.1:80\r\nX-User-Id: u\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"a\":\"12345\"",
	"GET /a%20b?c=d&e HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
	"GET /a HTTP/1.1\r\nhOST: x\r\ncookie: a\r\nCookie:b \r\nCONNECTION:\tkeep-alive\r\nx:\r\n\r\nGET /next",
	"DELETE //x/../y HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
	"GET /\" HTTP/1.1\r\nHost: [::1]:8\r\nX: \xff\xfe\r\n\r\n",
	"PUT /a?b#c HTTP/1.1\r\nHost: x\r\nContent-Length: 007\r\n\r\n",
}

// others are net/http's.
var others = []string{
	"GET / HTTP/1.1\nHost: x\n\n",
	"GET / HTTP/1.1\r\nHost: x\n\r\n",
	"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET / HTTP/1.0\r\nHost: x\r\n\r\n",
	"GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET / HTTP/1.1 \r\nHost: x\r\n\r\n",
	"GET http://y/ HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
	"get / HTTP/1.1\r\nHost: x\r\n\r\n",
	"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
	"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"GET / HTTP/1.1\r\n\r\n",
	"GET / HTTP/1.1\r\nHost:\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x y\r\n\r\n",
	"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\nA: b\x00c\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: x\r\ntransfer-encoding : chunked\r\nContent-Length: 3\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, x\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nConnection: keep-alive\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\nTrailer: a\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\nPragma: no-cache\r\n\r\n",
}

func TestHeads(t *testing.T) {
	t.Parallel()
	for _, text := range ordinary {
		if _, _, ok := http1.ReadHead([]byte(text)); !ok {
			t.Errorf("%q is handed over", text)
		}
		asNetHTTP(t, []byte(text))
	}
	for _, text := range others {
		if _, _, ok := http1.ReadHead([]byte(text)); ok {
			t.Errorf("%q is not handed over", text)
		}
	}
}

// FuzzHeads: what is read here is what net/http reads, to the byte at which the body begins.
func FuzzHeads(f *testing.F) {
	for _, text := range append(ordinary, others...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) { asNetHTTP(t, b) })
}

func asNetHTTP(t *testing.T, b []byte) {
	t.Helper()
	got, n, ok := http1.ReadHead(b)
	if !ok {
		return
	}
	in := bufio.NewReaderSize(bytes.NewReader(b), len(b)+16)
	want, err := http.ReadRequest(in)
	if err != nil {
		t.Fatalf("%q: net/http says %v", b, err)
	}
	if rest := in.Buffered(); rest != len(b)-n {
		t.Errorf("%q: the head has %d bytes, net/http reads %d", b, n, len(b)-rest)
	}
	for name, same := range map[string]bool{
		"Method": got.Method == want.Method, "RequestURI": got.RequestURI == want.RequestURI, "URL": reflect.DeepEqual(got.URL, want.URL),
		"Proto": got.Proto == want.Proto && got.ProtoMajor == want.ProtoMajor && got.ProtoMinor == want.ProtoMinor,
		"Host":  got.Host == want.Host, "Header": reflect.DeepEqual(got.Header, want.Header), "Close": got.Close == want.Close,
		"ContentLength": got.ContentLength == want.ContentLength, "TransferEncoding": want.TransferEncoding == nil, "Trailer": want.Trailer == nil,
	} {
		if !same {
			t.Errorf("%q: another %s: %+v, net/http has %+v", b, name, got, want)
		}
	}
	// What a server of net/http checks beyond ReadRequest.
	if !httpguts.ValidHostHeader(got.Host) {
		t.Errorf("the host %q", got.Host)
	}
	for name, values := range got.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			t.Errorf("the name %q", name)
		}
		for _, v := range values {
			if !httpguts.ValidHeaderFieldValue(v) {
				t.Errorf("the value %q", v)
			}
		}
	}
	if rest, _ := io.ReadAll(want.Body); want.ContentLength == 0 && strings.TrimSpace(string(rest)) != "" {
		t.Errorf("%q has a body for net/http", b)
	}
}
