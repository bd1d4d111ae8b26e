package presence

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// registry is a connection to replicas of which the first so many RPCs meet a paused one.
type registry struct {
	grpc.ClientConnInterface
	paused, asked int
}

func (r *registry) Invoke(ctx context.Context, _ string, _, _ any, _ ...grpc.CallOption) error {
	r.asked++
	if r.asked > r.paused {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func TestAPausedReplicaCostsAQuestionASecondTry(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(context.Context, *Client) error{
		"resolve": func(ctx context.Context, c *Client) error {
			_, err := c.Resolve(ctx, &nodev1.ResolveNodeRequest{})
			return err
		},
		"list": func(ctx context.Context, c *Client) error {
			_, err := c.List(ctx, &nodev1.ListNodesRequest{})
			return err
		},
		"session": func(ctx context.Context, c *Client) error {
			_, err := c.Session(ctx, &nodev1.GetSessionRequest{})
			return err
		},
		"stats": func(ctx context.Context, c *Client) error { _, err := c.Stats(ctx); return err },
	} {
		for paused, want := range map[int]struct {
			answered bool
			after    time.Duration
		}{0: {true, 0}, 1: {true, firstTry}, 2: {false, rpcTimeout}} {
			synctest.Test(t, func(t *testing.T) {
				r := &registry{paused: paused}
				c := New(r, "g")
				defer c.Close()
				began := time.Now()
				err := ask(t.Context(), c)
				if (err == nil) != want.answered || time.Since(began) != want.after || r.asked != min(paused+1, 2) {
					t.Errorf("%s, %d paused: %v after %v, asked %d times", name, paused, err, time.Since(began), r.asked)
				}
				if err != nil && !errors.Is(err, errs.BusUnavailable) {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
}

// Who asks may have less time than that.
func TestTheAskersDeadlineComesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &registry{paused: 5}
		c := New(r, "g")
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), firstTry/2)
		defer cancel()
		if _, err := c.Stats(ctx); err == nil || r.asked != 1 {
			t.Errorf("%v, asked %d times", err, r.asked)
		}
	})
}

// An answer that comes in the moment in which the second try would begin is taken.
func TestALateAnswerIsAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		got, err := askTwice(t.Context(), func(ctx context.Context, q string, _ ...grpc.CallOption) (string, error) {
			asked++
			<-ctx.Done()
			return "answer to " + q, nil
		}, "who")
		if got != "answer to who" || err != nil || asked != 1 {
			t.Errorf("%q, %v, asked %d times", got, err, asked)
		}
	})
}
