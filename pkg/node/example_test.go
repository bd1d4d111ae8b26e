package node_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/node"
)

// A desktop node with one tool, which tells the time of a place and is done when the program is interrupted.
func Example() {
	n, err := node.New(node.Options{
		Server:     "ws://localhost:8080",
		UserID:     "ana",
		NodeID:     "desk-1",
		Name:       "Ana's desk",
		AppVersion: "1.0.0",
		Logger:     slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	n.Handle("time", func(ctx context.Context, call node.Call) (node.Result, error) {
		var args struct {
			Zone string `json:"zone"`
		}
		if err := call.Bind(&args); err != nil {
			return node.Result{}, err // -32602: the agent learns which argument to correct
		}
		place, err := time.LoadLocation(args.Zone)
		if err != nil {
			return node.Errorf("zone %q is unknown; try one like Europe/Berlin", args.Zone), nil
		}
		return node.Text(time.Now().In(place).Format(time.RFC3339)), nil
	})

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := n.Run(ctx); errors.Is(err, node.ErrSuperseded) {
		fmt.Fprintln(os.Stderr, "this desk is connected from elsewhere now")
	} else if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
