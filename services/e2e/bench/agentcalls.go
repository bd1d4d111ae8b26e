package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

func dialAgent(addr string) (*grpc.ClientConn, error) {
	return grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
}

// runEverything has no run wait for a person but those that are to.
func (p *agentPod) runEverything() error {
	ctx, cancel := context.WithTimeout(auth.OnBehalf(context.Background(), ids.UserID(agentUser)), time.Minute)
	defer cancel()
	_, err := agentv1.NewAgentServiceClient(p.conn).UpdateApprovalSettings(ctx, &agentv1.UpdateApprovalSettingsRequest{
		Settings: &agentv1.ApprovalSettings{Mode: "run_everything"},
	}, grpc.WaitForReady(true))
	return err
}

// heard is one run as its caller sees it.
type heard struct {
	began, ended time.Time
	pieces       []time.Time // when text came
	results      []time.Time // when results came
	text         int         // bytes of text
	finish       string
}

func (h *heard) took() time.Duration { return h.ended.Sub(h.began) }

// newSession names a session that is not there yet.
func (a *agents) newSession() string {
	a.session++
	return fmt.Sprintf("session_%012x", a.session)
}

// invoke runs an agent to the end of its stream.
func (a *agents) invoke(ctx context.Context, p *agentPod, message string, ask map[string]*agentv1.InterruptRule) (*heard, error) {
	return invoke(ctx, p, a.newSession(), message, ask, nil)
}

// invoke calls first, if not nil, at the first piece of text.
func invoke(
	ctx context.Context, p *agentPod, session, message string, ask map[string]*agentv1.InterruptRule, first func(),
) (*heard, error) {
	ctx, cancel := context.WithCancel(auth.OnBehalf(ctx, ids.UserID(agentUser)))
	defer cancel()
	h := &heard{began: time.Now()}
	stream, err := agentv1.NewAgentServiceClient(p.conn).Invoke(ctx, &agentv1.InvokeRequest{
		SessionId: session, Message: message, ToolInterruptConfig: ask,
	})
	if err != nil {
		return nil, err
	}
	for {
		r, err := stream.Recv()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		switch kind := r.GetEvent().GetKind().(type) {
		case *agentv1.Event_Text:
			if h.pieces = append(h.pieces, time.Now()); len(h.pieces) == 1 && first != nil {
				first()
			}
			h.text += len(kind.Text.GetContent())
		case *agentv1.Event_ToolCallResult:
			h.results = append(h.results, time.Now())
		case *agentv1.Event_Error:
			return nil, fmt.Errorf("%s: the run failed: %s: %s", p.name, kind.Error.GetCode(), kind.Error.GetMessage())
		case *agentv1.Event_Complete:
			h.ended, h.finish = time.Now(), kind.Complete.GetFinishReason()
			if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
				return nil, fmt.Errorf("%s: after the last event: %w", p.name, err)
			}
			return h, nil
		}
	}
}

// Marks of text in what the model says, and in what a gateway says of it.
var (
	modelText = []byte(`"content":"`)
	edgeText  = []byte(`{"type":"text"`)
	dataField = []byte("data: ")
)

// direct returns a request like that of a run, to the model itself.
func (a *agents) direct(message string) func(context.Context) (*http.Request, error) {
	ask := a.ask
	ask.Messages = append(ask.Messages[:2:2], openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: message})
	body, err := json.Marshal(ask)
	return func(ctx context.Context) (*http.Request, error) {
		if err != nil {
			return nil, err
		}
		return http.NewRequestWithContext(ctx, http.MethodPost, a.model.URL+"/chat/completions", bytes.NewReader(body))
	}
}

// throughEdge returns an invoke at a gateway.
func (a *agents) throughEdge(p *agentPod, message string) func(context.Context) (*http.Request, error) {
	return func(ctx context.Context) (*http.Request, error) {
		body := fmt.Sprintf(`{"message":%q,"session_id":%q}`, message, a.newSession())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.edge.HTTP+"/api/agent/invoke", strings.NewReader(body))
		if err == nil {
			req.Header.Set("X-User-Id", agentUser)
		}
		return req, err
	}
}

// readStream sends a request and reads the server-sent events of its answer to their end. first is as in invoke.
func readStream(client *http.Client, req *http.Request, mark []byte, first func()) (*heard, error) {
	h := &heard{began: time.Now()}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read to its end
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return nil, fmt.Errorf("%s: %s: %s", req.URL, resp.Status, text)
	}
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadSlice('\n')
		if data, ok := bytes.CutPrefix(line, dataField); ok && bytes.Contains(data, mark) {
			if h.pieces = append(h.pieces, time.Now()); len(h.pieces) == 1 && first != nil {
				first()
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			h.ended = time.Now()
			if len(h.pieces) == 0 {
				return nil, fmt.Errorf("%s: no text came", req.URL)
			}
			return h, nil
		case err != nil:
			return nil, err
		}
	}
}
