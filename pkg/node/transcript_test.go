package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestTranscripts plays each file of testdata/transcripts as the gateway and compares every byte of the node's part:
//
//	connect <path and query>   the node dials
//	< <frame>                  the gateway sends
//	> <frame>                  the node must send exactly this
//	close <code> <reason>      the gateway closes
//	stop                       Run is asked to stop
//	closed <code> <reason>     the node must close so
//	ends [<text>]              Run must return an error with the text, or nil
//
// Lines that begin with # are comments. The line "extension" before connect makes the node one.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			play(t, file)
		})
	}
}

// player is the state of one transcript.
type player struct {
	t    *testing.T
	gate *gateway
	opts Options
	node *running
	peer *peer
}

func play(t *testing.T, file string) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g := newGateway(t)
	p := &player{t: t, gate: g, opts: options(g)}
	lines := bufio.NewScanner(f)
	for number := 1; lines.Scan(); number++ {
		if line := lines.Text(); line != "" && line[0] != '#' {
			verb, rest, _ := strings.Cut(line, " ")
			if err := p.step(verb, rest); err != nil {
				t.Fatalf("%s:%d: %v", file, number, err)
			}
		}
	}
}

func (p *player) step(verb, rest string) error {
	switch verb {
	case "extension":
		p.opts.Kind = Extension
	case "connect":
		if p.node == nil {
			p.node = startTranscriptNode(p.t, p.opts)
		}
		p.peer = p.gate.accept()
		if got := p.peer.request.URL.RequestURI(); got != rest {
			return fmt.Errorf("the node dialled %s", got)
		}
	case "<":
		p.peer.write(rest)
	case ">":
		got, err := p.peer.tryRead()
		if err != nil {
			return fmt.Errorf("nothing came, want\n%s: %w", rest, err)
		}
		if got != rest {
			return fmt.Errorf("the node sent\n%s\nwant\n%s", got, rest)
		}
	case "close":
		code, reason, _ := strings.Cut(rest, " ")
		number, err := strconv.Atoi(code)
		if err != nil {
			return err
		}
		p.peer.close(number, reason)
	case "stop":
		p.node.stop()
	case "closed":
		_, err := p.peer.tryRead()
		var closed *ClosedError
		if !errors.As(connectionError(err), &closed) || fmt.Sprintf("%d %s", closed.Code, closed.Reason) != rest {
			return fmt.Errorf("the node did not close so: %w", err)
		}
	case "ends":
		err := p.node.wait()
		if (rest == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), rest) {
			return fmt.Errorf("run returned the wrong error: %w", err)
		}
	default:
		return fmt.Errorf("unknown verb %q", verb)
	}
	return nil
}

// startTranscriptNode runs a node with the tools that the transcripts call, announced in this order.
func startTranscriptNode(t *testing.T, o Options) *running {
	n, err := newNode(o, quick())
	if err != nil {
		t.Fatal(err)
	}
	n.Handle("echo", func(_ context.Context, c Call) (Result, error) {
		var args struct {
			Text string `json:"text"`
		}
		if err := c.Bind(&args); err != nil {
			return Result{}, err
		}
		return Text(args.Text), nil
	})
	n.Handle("shot", func(context.Context, Call) (Result, error) {
		return Result{
			Content:    []Content{TextContent{"Screenshot taken"}, ImageContent{[]byte("\x89PNG"), "image/png"}},
			Screenshot: []byte("\x89PNG"),
			Fields:     map[string]any{"width": 2, "height": 1, "note": "<&>"},
		}, nil
	})
	n.Handle("fail", func(_ context.Context, c Call) (Result, error) {
		return Result{}, errors.New("element not found")
	})
	n.Handle("soft", func(context.Context, Call) (Result, error) {
		return Errorf("no file %q", "a.txt"), nil
	})
	n.Handle("panic", func(context.Context, Call) (Result, error) { panic("secret state") })
	n.Handle("clash", func(context.Context, Call) (Result, error) {
		return Result{Fields: map[string]any{"isError": true}}, nil
	})
	n.Handle("wait", func(ctx context.Context, c Call) (Result, error) {
		c.Progress(1, 0, "begun")
		<-ctx.Done()
		return Result{}, ctx.Err()
	})
	n.Handle("steps", func(_ context.Context, c Call) (Result, error) {
		c.Progress(1, 2, "half")
		c.Progress(2, 0, "")
		return Text("session " + c.SessionID), nil
	})
	return launch(t, n)
}
