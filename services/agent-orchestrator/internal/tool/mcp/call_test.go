package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/mcp"
)

// process is this program as a server over stdio.
func process(as string) *agentv1.McpServer {
	return &agentv1.McpServer{Name: "process", TransportType: "stdio", Command: os.Args[0], Env: map[string]string{role: as, "GIVEN": "yes"}}
}

func failure(t *testing.T, err error) *tool.Failure {
	t.Helper()
	var f *tool.Failure
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want a failure", err)
	}
	return f
}

func TestResults(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, nil)
	listing := open(t, source(t, nil), request(&agentv1.McpServer{Name: "a", BaseUrl: s.URL}))
	for name, want := range map[string]tool.Result{
		"append":     {Text: "appended"},
		"drop.table": {Text: "dropped"},
		"fail":       {Text: "no such page", IsError: true},
		"rich":       {Text: "one\ntwo\nd https://example.com/d"},
	} {
		got, err := call(t.Context(), find(t, listing, name), `{}`)
		if err != nil || got.Text != want.Text || got.IsError != want.IsError {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := call(t.Context(), find(t, listing, "break"), ""); err != nil || !got.IsError || !strings.Contains(got.Text, "out of order") {
		t.Errorf("an error of the protocol: %+v, %v", got, err)
	}
	got, err := call(t.Context(), find(t, listing, "rich"), `{}`)
	want := []tool.Artifact{
		{Type: "image", MIMEType: "image/png", Data: []byte("PNG")},
		{Type: "file", MIMEType: "audio/wav", Data: []byte("WAV")},
		{Type: "file", MIMEType: "application/pdf", Name: "b.pdf", Data: []byte("PDF")},
	}
	if err != nil || !slices.EqualFunc(got.Artifacts, want, func(a, b tool.Artifact) bool {
		return a.Type == b.Type && a.MIMEType == b.MIMEType && a.Name == b.Name && string(a.Data) == string(b.Data)
	}) {
		t.Errorf("%+v, %v", got.Artifacts, err)
	}
}

// Five megabytes pass; more than is read says that the tool has run.
func TestHugeResults(t *testing.T) {
	t.Parallel()
	s, st := serve(t, nil)
	listing := open(t, source(t, nil), request(&agentv1.McpServer{Name: "a", BaseUrl: s.URL}))
	huge := find(t, listing, "huge")
	if got, err := call(t.Context(), huge, `{"bytes":5242880}`); err != nil || len(got.Text) != 5<<20 {
		t.Errorf("%d bytes, %v", len(got.Text), err)
	}
	got, err := call(t.Context(), huge, `{"bytes":34000000}`)
	if err != nil || !got.IsError || !strings.Contains(got.Text, "32 MiB") || st.runs.Load() != 2 {
		t.Errorf("%d bytes, %v, %d runs", len(got.Text), err, st.runs.Load())
	}
	if got, err := call(t.Context(), huge, `{"bytes":1}`); err != nil || got.Text != "x" {
		t.Errorf("the next call: %+v, %v", got, err)
	}
}

// A server that answers with a status says what that means for the call; nothing is sent twice.
func TestStatuses(t *testing.T) {
	t.Parallel()
	for status, outcome := range map[int]string{
		401: tool.NotDelivered, 403: tool.NotDelivered, 404: tool.NotDelivered, 413: tool.NotDelivered, 429: tool.NotDelivered,
		500: tool.Unknown, 502: tool.Unknown, 504: tool.Unknown,
	} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			calls := make(chan struct{}, 8)
			s, _ := serve(t, func(next http.Handler) http.Handler {
				return onCall(next, func(w http.ResponseWriter) {
					calls <- struct{}{}
					http.Error(w, "secret of the server", status)
				})
			})
			listing := open(t, source(t, nil), request(&agentv1.McpServer{Name: "a", BaseUrl: s.URL}))
			_, err := call(t.Context(), find(t, listing, "echo"), `{"text":"a"}`)
			f := failure(t, err)
			if f.Outcome != outcome || !strings.Contains(f.Message, strconv.Itoa(status)) || strings.Contains(f.Message, "secret") {
				t.Errorf("%+v", f)
			}
			// A 404 says that the session is forgotten: then, and only then, another is tried.
			if want := map[bool]int{true: 2, false: 1}[status == 404]; len(calls) != want {
				t.Errorf("sent %d times", len(calls))
			}
		})
	}
}

// A server that is killed mid-call: it may have run. It is not sent again; the next call finds the new server.
func TestKilledMidCall(t *testing.T) {
	t.Parallel()
	s, st := serve(t, nil)
	listing := open(t, source(t, nil), request(&agentv1.McpServer{Name: "a", BaseUrl: s.URL}))
	t.Cleanup(st.release)
	hang := find(t, listing, "hang")
	done := make(chan error, 1)
	go func() {
		_, err := call(t.Context(), hang, `{}`)
		done <- err
	}()
	<-st.running
	s.CloseClientConnections()
	if f := failure(t, <-done); f.Outcome != tool.Unknown || !strings.Contains(f.Message, "may have run") {
		t.Errorf("%+v", f)
	}
	if st.runs.Load() != 1 {
		t.Errorf("%d runs", st.runs.Load())
	}
	if got, err := call(t.Context(), find(t, listing, "echo"), `{"text":"again"}`); err != nil || got.Text != "again" {
		t.Errorf("the next call: %+v, %v", got, err)
	}
}

// A server that is gone was not delivered to; one that came back and knows no session gets a new one.
func TestGoneAndBack(t *testing.T) {
	t.Parallel()
	var forgets bool
	s, st := serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if forgets && r.Header.Get("Mcp-Session-Id") != "" {
				forgets = false
				http.Error(w, "no such session", http.StatusNotFound)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	listing := open(t, source(t, nil), request(&agentv1.McpServer{Name: "a", BaseUrl: s.URL}))
	echo := find(t, listing, "echo")
	if got, err := call(t.Context(), echo, `{"text":"1"}`); err != nil || got.Text != "1" {
		t.Fatalf("%+v, %v", got, err)
	}
	forgets = true
	if got, err := call(t.Context(), echo, `{"text":"2"}`); err != nil || got.Text != "2" || st.runs.Load() != 2 {
		t.Errorf("a forgotten session: %+v, %v, %d runs", got, err, st.runs.Load())
	}
	s.CloseClientConnections()
	s.Listener.Close()
	// While the client has not seen its idle connection end, the call may have run for all it knows.
	testkit.Eventually(t, 5*time.Second, func() bool {
		_, err := call(t.Context(), echo, `{"text":"3"}`)
		return failure(t, err).Outcome == tool.NotDelivered
	}, "a server that is gone is known to be")
}

func TestCancelledAndTimedOut(t *testing.T) {
	t.Parallel()
	s, st := serve(t, nil)
	listing := open(t, source(t, nil), request(&agentv1.McpServer{Name: "a", BaseUrl: s.URL}))
	t.Cleanup(st.release)
	hang := find(t, listing, "hang")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-st.running
		cancel()
	}()
	_, err := call(ctx, hang, `{}`)
	if f := failure(t, err); f.Outcome != tool.Unknown || f.Reason != "CANCELLED" {
		t.Errorf("cancelled: %+v", f)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = call(ctx, hang, `{}`)
	if f := failure(t, err); f.Outcome != tool.Unknown || f.Reason != "TOOL_TIMEOUT" {
		t.Errorf("timed out: %+v", f)
	}
	if got, err := call(t.Context(), find(t, listing, "echo"), `{"text":"a"}`); err != nil || got.Text != "a" {
		t.Errorf("the next call: %+v, %v", got, err)
	}
}

// A process sees what it was given and no more, is started again after its death, and ends with the listing.
func TestProcess(t *testing.T) {
	t.Setenv("SECRET_OF_THE_POD", "x")
	listing, err := source(t, func(o *mcp.Options) { o.Stdio = true }).Tools(t.Context(), request(process("serve")))
	if err != nil {
		t.Fatal(err)
	}
	got, err := call(t.Context(), find(t, listing, "env"), `{}`)
	var names []string
	for line := range strings.Lines(got.Text) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	if err != nil || !slices.Equal(names, []string{"GIVEN", role, "HOME", "PATH"}) {
		t.Errorf("%q, %v", names, err)
	}
	_, err = call(t.Context(), find(t, listing, "die"), `{}`)
	if f := failure(t, err); f.Outcome != tool.Unknown {
		t.Errorf("%+v", f)
	}
	got, err = call(t.Context(), find(t, listing, "pid"), `{}`)
	pid, convErr := strconv.Atoi(got.Text)
	if err != nil || convErr != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	listing.Close()
	testkit.Eventually(t, 5*time.Second, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }, "the process ended")
	_, err = call(t.Context(), find(t, listing, "pid"), `{}`)
	if f := failure(t, err); f.Outcome != tool.NotDelivered {
		t.Errorf("after the end: %+v", f)
	}
}

// A call that was given up before it was sent leaves the process as it is; one that the process does not even read ends it.
func TestProcessAndContext(t *testing.T) {
	t.Parallel()
	listing := open(t, source(t, func(o *mcp.Options) { o.Stdio = true }), request(process("serve")))
	pid := find(t, listing, "pid")
	first, err := call(t.Context(), pid, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = call(over, pid, `{}`)
	if f := failure(t, err); f.Outcome != tool.NotDelivered {
		t.Errorf("%+v", f)
	}
	if got, err := call(t.Context(), pid, `{}`); err != nil || got.Text != first.Text {
		t.Errorf("another process answers: %+v, %v", got, err)
	}
	n, err := strconv.Atoi(first.Text)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(n, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 2*time.Second) // half of it is in the pipe by then, however busy the machine is
	defer cancel()
	_, err = call(soon, find(t, listing, "echo"), `{"text":"`+strings.Repeat("x", 1<<20)+`"}`)
	if f := failure(t, err); f.Outcome != tool.NotDelivered {
		t.Errorf("half a line: %+v", f)
	}
	later, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if got, err := call(later, pid, `{}`); err != nil || got.Text == first.Text {
		t.Errorf("after the end of the process: %+v, %v", got, err)
	}
}
