package floods_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// limitHeaders fails unless a refusal says which limit there is and when to come back.
func limitHeaders(t *testing.T, h http.Header, limit string) {
	t.Helper()
	if h.Get("RateLimit-Limit") != limit || h.Get("RateLimit-Remaining") == "" || h.Get("RateLimit-Reset") == "" || h.Get("Retry-After") == "" {
		t.Errorf("a refusal's headers are %v", h)
	}
}

// begin asks for a stream, which is read until ctx ends, and returns the status of the answer.
func begin(ctx context.Context, t *testing.T, work *sync.WaitGroup, g *cluster.Gateway, method, path, user, body string) (int, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+g.HTTP+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	req.Header.Set("X-User-Id", user)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	work.Go(func() {
		_, _ = io.Copy(io.Discard, resp.Body) // it ends with ctx
		_ = resp.Body.Close()
	})
	return resp.StatusCode, resp.Header
}

func TestRunsOfOneUserAreCountedInAllPods(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		model := modeltest.New(t)
		model.Otherwise(modeltest.Say("I ", "think").Stall(1))
		c := cluster.Start(t, cluster.Options{
			Limits: true, Orchestrators: 2, Paired: true, Database: database, Model: model.URL(),
			Orchestrator: func(_ int, cfg *orchestrator.Config) { cfg.Limits.Runs = 6 },
		})
		ctx, leave := context.WithCancel(t.Context())
		var reading, work sync.WaitGroup
		defer reading.Wait()
		defer leave()
		var begun, refused atomic.Int64
		for i := range 40 {
			work.Go(func() {
				code, header := begin(ctx, t, &reading, c.Gateways[i%2], http.MethodPost, "/api/agent/invoke", "flood", `{"message":"go"}`)
				switch code {
				case http.StatusOK:
					begun.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
					limitHeaders(t, header, "6")
				default:
					t.Errorf("answered %d", code)
				}
			})
		}
		work.Wait()
		if n := begun.Load(); n < 6 || n > 12 || begun.Load()+refused.Load() != 40 {
			t.Errorf("%d runs began of 40, %d were refused, where 6 may be", n, refused.Load())
		}
		if code, _ := begin(ctx, t, &reading, c.Gateways[0], http.MethodPost, "/api/agent/invoke", "calm", `{"message":"go"}`); code != http.StatusOK {
			t.Errorf("another user's run: %d", code)
		}
		// One after the other nothing is unseen: what ends makes room, in both pods.
		sessions, _ := c.Gateways[1].Get(t, "/api/agent/sessions?limit=100", "flood").Body["sessions"].([]any)
		if len(sessions) != int(begun.Load()) {
			t.Errorf("%d sessions for %d runs: what was refused left something", len(sessions), begun.Load())
		}
		for _, s := range sessions {
			id, _ := s.(map[string]any)["session_id"].(string)
			c.Gateways[0].Post(t, "/api/agent/sessions/"+id+"/cancel", "flood", "")
		}
		testkit.Eventually(t, 20*time.Second, func() bool {
			code, _ := begin(ctx, t, &reading, c.Gateways[1], http.MethodPost, "/api/agent/invoke", "flood", `{"message":"go"}`)
			return code == http.StatusOK
		}, "a run begins once others have ended")
	})
}

func TestEventStreamsOfOneUserAreCountedInAllPods(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{
		Limits: true, Orchestrators: 1,
		Gateway: func(_ int, cfg *gateway.Config) { cfg.Limits.Streams = 16 },
	})
	s := c.Gateways[0].Invoke(t, "flood", map[string]any{"message": "hello"})
	s.All()
	ctx, leave := context.WithCancel(t.Context())
	var reading, work sync.WaitGroup
	defer reading.Wait()
	defer leave()
	var open, refused atomic.Int64
	for i := range 100 {
		work.Go(func() {
			code, header := begin(ctx, t, &reading, c.Gateways[i%2], http.MethodGet, "/api/agent/sessions/"+s.Session+"/events", "flood", "")
			switch code {
			case http.StatusOK:
				open.Add(1)
			case http.StatusTooManyRequests:
				refused.Add(1)
				limitHeaders(t, header, "16")
			default:
				t.Errorf("answered %d", code)
			}
		})
	}
	work.Wait()
	if n := open.Load(); n < 14 || n > 16+2*own || refused.Load() == 0 {
		t.Errorf("%d streams are open of 100, where 16 may be", n)
	}
	leave()
	reading.Wait()
	testkit.Eventually(t, 10*time.Second, func() bool {
		stream := c.Gateways[1].Get(t, "/api/agent/sessions/"+s.Session+"/events?follow=false", "flood")
		return stream.Status == http.StatusOK
	}, "streams that ended make room")
}

func TestFilesOfOneUserHaveSoMuchRoom(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Limits: true, Orchestrators: 2, Paired: true, Gateway: func(_ int, cfg *gateway.Config) {
		cfg.Limits.BytesPerSecond = 0 // not what is asked here
	}})
	const size = 20 << 20
	body := strings.Repeat("x", size)
	put := func(i int, user string) cluster.Response {
		return c.Gateways[i%2].Do(t, http.MethodPut, fmt.Sprintf("/api/workspace/files/f%d", i), user, body, nil)
	}
	kept := 0
	var last cluster.Response
	for i := range 8 { // 160 MiB
		if last = put(i, "flood"); last.Status == http.StatusOK {
			kept++
		}
	}
	if kept != 6 || last.Status != http.StatusTooManyRequests || last.Body["reason"] != "STORAGE_FULL" {
		t.Errorf("%d files of 20 MiB were kept, then: %d %s", kept, last.Status, last.Raw)
	}
	limitHeaders(t, last.Header, fmt.Sprint(128<<20))
	if r := put(0, "calm"); r.Status != http.StatusOK {
		t.Errorf("another user's file: %d %s", r.Status, r.Raw)
	}
	if r := c.Gateways[1].Do(t, http.MethodDelete, "/api/workspace/files/f0", "flood", "", nil); r.Status != http.StatusOK {
		t.Errorf("delete: %d %s", r.Status, r.Raw)
	}
	if r := put(9, "flood"); r.Status != http.StatusOK {
		t.Errorf("after a file is deleted: %d %s", r.Status, r.Raw)
	}
}
