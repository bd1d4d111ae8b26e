package hostile_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// fast is what a call may take on a machine that has much else to do; less than anything that a client could hold up.
const fast = 2 * time.Second

// undisturbed calls a node through both pods until stop is closed; each answer has to come fast.
func undisturbed(t *testing.T, c *cluster.Cluster, stop <-chan struct{}) (done chan struct{}) {
	t.Helper()
	node := c.Gateways[0].Extension(t, "calm", "n")
	node.Register("")
	node.Serve(func(cluster.ToolCall) string { return `{}` })
	done = make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				if i == 0 {
					t.Error("no call was made in all that time")
				}
				return
			default:
			}
			r := start(t.Context(), t, c.Gateways[i%2], &toolv1.Call{UserId: "calm", NodeId: "n", ToolName: "t"})
			if <-r.done; r.err != nil || r.took > fast {
				t.Errorf("a call took %v: %v", r.took, r.err)
				return
			}
		}
	}()
	t.Cleanup(func() { <-done })
	return done
}

// deaf is a client that never reads.
func deaf(t *testing.T, g *cluster.Gateway, target string) *raw {
	t.Helper()
	r := dialRaw(t, g, target, "", nil)
	if err := r.conn.SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	return r
}

// cut waits until a pod has cut its one slow reader. The socket itself says so only to a client that reads.
func cut(t *testing.T, g *cluster.Gateway, client string) {
	t.Helper()
	testkit.Eventually(t, 20*time.Second, func() bool {
		return metric(t, g, `hecaton_gateway_connections_closed_total{client="`+client+`",reason="slow_reader"}`) == 1
	}, "the %s that does not read is cut", client)
}

func TestANodeThatNeverReadsIsCutAndSlowsNobody(t *testing.T) {
	t.Parallel()
	for why, change := range map[string]func(*gateway.Config){
		"by its queue":          func(cfg *gateway.Config) { cfg.WriteQueue, cfg.WriteTimeout = 2*mib, time.Minute },
		"by the write deadline": func(cfg *gateway.Config) { cfg.WriteQueue, cfg.WriteTimeout = 1<<30, 2*fast },
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			c := cluster.Start(t, cluster.Options{Gateway: func(_ int, cfg *gateway.Config) { change(cfg) }})
			stop := make(chan struct{})
			calm := undisturbed(t, c, stop)
			slow := deaf(t, c.Gateways[0], "/ws/extension?client_id=user_u&node_id=n")
			slow.text(`{"type":"register","max_concurrent_tasks":1000}`)
			slow.expect(opText, `{"type":"registered","node_id":"n","success":true}`)
			args := []byte(`{"x":"` + strings.Repeat("x", mib) + `"}`)
			var calls []*called
			for i := range 24 {
				calls = append(calls, start(t.Context(), t, c.Gateways[i%2], &toolv1.Call{UserId: "u", NodeId: "n", ToolName: "t", ArgumentsJson: args}))
			}
			for _, r := range calls {
				if <-r.done; !isReason(r.err, errs.NodeDisconnected) && !isReason(r.err, errs.NodeNotConnected) {
					t.Error(r.err)
				}
			}
			cut(t, c.Gateways[0], "extension")
			close(stop)
			<-calm
		})
	}
}

func TestAWebClientThatNeverReadsIsCutAndTheOthersHearEverything(t *testing.T) {
	t.Parallel()
	// Of one who reads, a frame may still count as queued when the next comes; it is one MiB and a little.
	const room = 4 * mib
	c := cluster.Start(t, cluster.Options{Gateway: func(_ int, cfg *gateway.Config) { cfg.WriteQueue, cfg.WriteTimeout = room, time.Minute }})
	stop := make(chan struct{})
	calm := undisturbed(t, c, stop)
	for _, g := range c.Gateways {
		slow := deaf(t, g, "/ws/web?user_id=u")
		slow.text(`{"type":"ping"}`)
		slow.expect(opText, pong)
	}
	webs := []*cluster.Client{c.Gateways[0].Web(t, "u"), c.Gateways[1].Web(t, "u")}
	ext := c.Gateways[0].Extension(t, "u", "n")
	for i := range 16 {
		ext.Send(fmt.Sprintf(`{"type":"task_complete","task_id":%d,"output":"%s"}`, i, strings.Repeat("x", mib)))
		for _, w := range webs {
			if got, want := w.Next(), fmt.Sprintf(`{"type":"workflow_complete","task_id":%d,`, i); !strings.HasPrefix(got, want) {
				t.Fatalf("%.100s", got)
			}
		}
	}
	cut(t, c.Gateways[0], "web")
	cut(t, c.Gateways[1], "web")
	close(stop)
	<-calm
}

// flood writes frames without a pause, and reads what comes, until stop is closed.
func flood(t *testing.T, g *cluster.Gateway, target string, frames []byte, stop <-chan struct{}) {
	t.Helper()
	r := dialRaw(t, g, target, "", nil)
	var work sync.WaitGroup
	work.Go(func() { _, _ = io.Copy(io.Discard, r.in) })
	work.Go(func() {
		for {
			if _, err := r.conn.Write(frames); err != nil {
				select {
				case <-stop:
				default:
					t.Errorf("the flood from %s was cut: %v", target, err)
				}
				return
			}
		}
	})
	work.Go(func() {
		<-stop
		_ = r.conn.Close()
	})
	t.Cleanup(work.Wait)
}

func TestFloodsDisturbNobody(t *testing.T) {
	t.Parallel()
	for what, frames := range map[string][]byte{
		"pings": masked(final|opText, []byte(`{"type":"ping"}`)), "garbage": masked(final|opText, []byte("{garbage")), "nothing": masked(final|opText, nil),
		"unknown types": masked(final|opText, []byte(`{"type":"unknown"}`)), "binary": masked(final|opBinary, make([]byte, 100)),
		"answers to nothing": masked(final|opText, []byte(`{"jsonrpc":"2.0","id":"x","result":{}}`)), "heartbeats": masked(final|opText, []byte(`{"type":"heartbeat","status":"busy"}`)),
		"control frames": masked(final|opPing, nil),
		"renames":        append(masked(final|opText, []byte(`{"type":"register","node_id":"a"}`)), masked(final|opText, []byte(`{"type":"register","node_id":"b"}`))...),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := cluster.Start(t, cluster.Options{})
			stop := make(chan struct{})
			for _, target := range []string{"/ws/extension?client_id=user_u&node_id=n", "/ws/web?user_id=u"} {
				flood(t, c.Gateways[0], target, frames, stop)
			}
			calm := undisturbed(t, c, stop)
			select {
			case <-time.After(400 * time.Millisecond): // the flood has to last for something to be disturbed
			case <-calm:
			}
			close(stop)
			<-calm
		})
	}
}
