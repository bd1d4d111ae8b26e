package store_test

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

// PostgreSQL is stopped, killed and started while runs commit: nothing is lost, nothing is doubled.
func TestPostgresRestartsWhileRunsCommit(t *testing.T) {
	t.Parallel()
	server := testkit.OwnPostgres(t)
	s, err := store.Open(t.Context(), store.Options{URL: config.Secret(server.URL()), Patience: time.Minute})
	must(t, err, nil)
	t.Cleanup(func() { must(t, s.Close(), nil) })
	const runs = 8
	var total atomic.Int64
	stop := make(chan struct{})
	var last [runs]int64
	var working sync.WaitGroup
	for i := range runs {
		b := beginning("run")
		b.Session = session(i)
		l, _ := begin(t, s, b)
		working.Go(func() {
			for seq := int64(1); ; seq++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := s.Commit(t.Context(), l, store.Change{
					Events:   texts(l, seq, fmt.Sprint(seq)),
					Messages: []store.Message{{Index: int(seq) + 1, Role: "assistant", Content: fmt.Sprint(seq)}},
				}); err != nil {
					t.Errorf("commit %d of run %d: %v", seq, i, err)
					return
				}
				last[i] = seq
				total.Add(1)
			}
		})
	}
	goesOn := func() {
		t.Helper()
		from := total.Load()
		testkit.Eventually(t, time.Minute, func() bool { return t.Failed() || total.Load() > from+50 }, "runs go on")
	}
	for range 2 {
		goesOn()
		server.Restart()
		goesOn()
		server.Kill()
		server.Start()
	}
	goesOn()
	close(stop)
	working.Wait()
	for i := range runs {
		r := ref
		r.Session = session(i)
		events, err := s.Events(t.Context(), r, 0, 0)
		must(t, err, nil)
		messages, err := s.Messages(t.Context(), r, "", 0, 0)
		must(t, err, nil)
		if int64(len(events)) != last[i] || int64(len(messages)) != last[i]+1 {
			t.Errorf("run %d committed %d, kept are %d events and %d messages", i, last[i], len(events), len(messages)-1)
		}
		for n, e := range events {
			if e.GetSeq() != int64(n)+1 || e.GetText().GetContent() != fmt.Sprint(n+1) {
				t.Fatalf("event %d of run %d is %v", n+1, i, e)
			}
		}
	}
}

func TestPostgresAway(t *testing.T) {
	t.Parallel()
	server := testkit.OwnPostgres(t)
	s, err := store.Open(t.Context(), store.Options{URL: config.Secret(server.URL()), Patience: 100 * time.Millisecond})
	must(t, err, nil)
	t.Cleanup(func() { must(t, s.Close(), nil) })
	l, _ := begin(t, s, beginning("run_1"))
	server.Stop()
	if s.Check(t.Context()) == nil {
		t.Error("a database that is away is ready")
	}
	must(t, s.Commit(t.Context(), l, store.Change{Events: texts(l, 1, "x")}), errs.AgentUnavailable)
	_, err = s.Load(t.Context(), ref)
	must(t, err, errs.AgentUnavailable)
	server.Start()
	commit(t, s, l, store.Change{Events: texts(l, 1, "x")})
	must(t, s.Check(t.Context()), nil)
}

// A pod that starts before its database waits for it.
func TestPostgresAwayAtFirst(t *testing.T) {
	t.Parallel()
	server := testkit.OwnPostgres(t)
	server.Stop()
	waits := make(chan struct{}, 1)
	opened := make(chan error, 1)
	go func() {
		s, err := store.Open(t.Context(), store.Options{
			URL: config.Secret(server.URL()), Logger: slog.New(slog.NewTextHandler(signal(waits), nil)),
		})
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	select {
	case <-waits:
	case err := <-opened:
		t.Fatalf("it did not wait: %v", err)
	}
	server.Start()
	must(t, <-opened, nil)
}

// signal is told of each line that is logged.
type signal chan struct{}

func (s signal) Write(line []byte) (int, error) {
	select {
	case s <- struct{}{}:
	default:
	}
	return len(line), nil
}

// cutter stands between a store and its server. Armed, it lets the next request through, and cuts the connection when the
// server answers: what was asked was done, and nobody heard of it.
type cutter struct {
	armed atomic.Bool
	cuts  atomic.Int64
}

// through starts the cutter before the server of a URL, and returns the URL that leads through it.
func (c *cutter) through(t *testing.T, to string) string {
	t.Helper()
	target, err := url.Parse(to)
	must(t, err, nil)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err, nil)
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = ln.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target.Host)
			if err != nil {
				_ = client.Close()
				continue
			}
			all.Go(func() {
				_, _ = io.Copy(server, client) // ends with either
				_ = server.Close()
			})
			all.Go(func() {
				defer client.Close()
				defer server.Close()
				c.answer(client, server)
			})
		}
	})
	own := *target
	own.Host = ln.Addr().String()
	return own.String()
}

func (c *cutter) answer(client io.Writer, server io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		if c.armed.CompareAndSwap(true, false) {
			c.cuts.Add(1)
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// Every method finds out what became of a request whose answer was lost.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	var c cutter
	s := storetest.At(t, c.through(t, testkit.Postgres(t)))
	wantCuts := int64(0)
	lose := func() {
		wantCuts++
		c.armed.Store(true)
	}
	tool := store.SavedTool{ID: "1", User: "ann", Name: "n"}
	// Twice: in the first round some answers are those to the preparation of a statement.
	for round := range 2 {
		lose()
		b := beginning(fmt.Sprint("run_", round))
		b.IdempotencyKey = fmt.Sprint("key_", round)
		l, st := begin(t, s, b)
		if len(st.Messages) != 1 || l.Token != 1 {
			t.Errorf("began as %+v", st)
		}
		for seq := int64(1); seq < 10; seq++ {
			lose()
			commit(t, s, l, store.Change{
				Events: texts(l, seq, "x"), Messages: []store.Message{{Index: int(seq) + 1, Role: "assistant"}},
			})
			lose()
			commit(t, s, l, store.Change{Todos: []byte("[]")})
		}
		commit(t, s, l, store.Change{End: &store.End{FinishReason: "stop"}})
		must(t, s.Delete(t.Context(), ref), nil)

		interrupted(t, s, time.Now().Add(time.Hour))
		d := decided(load(t, s, ref), "pod")
		d.Messages = []store.Message{{Role: "user", Content: "once"}}
		lose()
		l, st, err := s.Decide(t.Context(), d)
		must(t, err, nil)
		if len(st.Messages) != 3 || l.Token != 2 {
			t.Errorf("decided: %+v, %+v", l, st)
		}
		lose()
		active, _, err := s.RequestCancel(t.Context(), ref)
		if !active || err != nil {
			t.Errorf("cancel of a run: %v, %v", active, err)
		}
		lose()
		must(t, s.Release(t.Context(), []store.Lease{l}), nil)
		must(t, s.Delete(t.Context(), ref), nil)

		interrupted(t, s, time.Now().Add(time.Hour))
		lose()
		active, events, err := s.RequestCancel(t.Context(), ref)
		if !active || len(events) != 4 || err != nil {
			t.Errorf("cancel of an interrupt: %v, %v, %v", active, events, err)
		}
		lose()
		must(t, s.Delete(t.Context(), ref), nil)

		lose()
		_, err = s.CreateTool(t.Context(), tool)
		must(t, err, nil)
		lose()
		must(t, s.SetApprovalSettings(t.Context(), "ann", store.ApprovalSettings{Allowed: []store.AllowedTool{{Tool: "x"}}}), nil)
		lose()
		must(t, s.DeleteTool(t.Context(), "ann", "1"), nil)
	}
	if got := c.cuts.Load(); got != wantCuts {
		t.Errorf("%d answers were lost, want %d", got, wantCuts)
	}
}
