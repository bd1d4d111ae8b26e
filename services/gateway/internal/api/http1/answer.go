package http1

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"time"
)

// answer is one request and the way of its answer.
type answer struct {
	ctx    context.Context
	cancel context.CancelFunc
	r      *http.Request
	w      *response
}

// begin makes a request that was parsed one that can be served.
func (c *conn) begin(r *http.Request) *answer {
	a := new(answer)
	a.ctx, a.cancel = context.WithCancel(c.ctx)
	c.attend(a.cancel)
	a.r = r.WithContext(a.ctx)
	a.w = &response{conn: c, header: make(http.Header, 6), head: r.Method == http.MethodHead, last: r.Close}
	a.r.RemoteAddr, a.r.Body = c.remote, http.NoBody
	if r.ContentLength > 0 {
		a.w.body = &body{conn: c, left: r.ContentLength}
		a.r.Body = a.w.body
		if !a.w.body.buffered() {
			_ = c.setReadDeadline(time.Time{}) // how long it may take is the handler's business
		}
	}
	return a
}

// run calls the handler, and reports whether it returned.
func (a *answer) run(handle func()) (returned bool) {
	defer func() {
		if v := recover(); v != nil {
			if err, ok := v.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				a.w.conn.server.log("panic serving " + a.w.conn.remote + ": " + string(debug.Stack()))
			}
		}
	}()
	handle()
	return true
}

// end ends the answer, as far as it got, and reports whether the connection can go on.
func (a *answer) end(whole bool) bool {
	if whole {
		whole = a.w.finish()
	}
	a.w.out.release()
	if a.w.body != nil {
		_ = a.w.body.Close() // never fails; whoever still reads has no part in the next request
	}
	a.cancel()
	return whole
}

// Later has f called once the handler has returned, in its place: the answer goes on until f returns, on a goroutine that has nothing of
// the handlers' stack, which for a stream that mostly waits is the larger part of its price. f's context ends with the client, and
// nothing that the handlers around have put into theirs. It reports false where w is not this package's: then the caller calls f itself.
func Later(w http.ResponseWriter, f func(context.Context)) bool {
	for {
		switch own := w.(type) {
		case *response:
			own.later = f
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = own.Unwrap()
		default:
			return false
		}
	}
}
