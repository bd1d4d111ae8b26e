package agent_test

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

// looks calls a tool five times, then says so.
func looks(r modeltest.Request) modeltest.Answer {
	steps := 0
	for _, m := range r.Messages {
		if m.Role == "tool" {
			steps++
		}
	}
	if steps < 5 {
		return modeltest.Call("look", `{"at":"the screen"}`)
	}
	return modeltest.Say("five ", "looks ", "are ", "enough")
}

// finished tells when a run's last event is published.
type finished chan struct{}

func (f finished) Publish(_ store.Ref, events []*agentv1.Event) {
	if events[len(events)-1].GetComplete() != nil {
		f <- struct{}{}
	}
}

type tools []tool.Tool

func (t tools) Tools(context.Context, tool.Scope) (tool.Listing, error) {
	return tool.Listing{Tools: t}, nil
}

// BenchmarkRun is a whole run of five calls, beside what the model's client alone takes for the same questions.
func BenchmarkRun(b *testing.B) {
	model := modeltest.New(b)
	model.Otherwise(modeltest.Func(looks))
	client, err := llm.New(llm.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(client.Close)
	at := llm.Endpoint{BaseURL: model.URL(), Model: modeltest.Model}
	look := echo("look")

	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			bareLoop(b, client, at, look)
		}
	})
	b.Run("engine", func(b *testing.B) {
		box, err := seal.New(seal.NewKey())
		if err != nil {
			b.Fatal(err)
		}
		s, ended := storetest.Open(b), make(finished, 1)
		if err := s.SetApprovalSettings(b.Context(), user, store.ApprovalSettings{Mode: "run_everything"}); err != nil {
			b.Fatal(err)
		}
		files, err := workspace.Open(b.Context(), workspace.Options{URL: "mem://"})
		if err != nil {
			b.Fatal(err)
		}
		e, err := agent.New(agent.Options{
			Config: agent.Config{Default: at, Owner: "bench"}, Files: files,
			Journal: s, Leases: s, Decisions: s, Model: client, Sources: []tool.Source{tools{look}}, Publisher: ended, Sealer: box,
			Metrics: prometheus.NewRegistry(),
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := e.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := e.Invoke(b.Context(), user, &agentv1.InvokeRequest{Message: "look five times"}); err != nil {
				b.Fatal(err)
			}
			<-ended
		}
		if err := errors.Join(e.Stop(context.WithoutCancel(b.Context())), files.Close()); err != nil {
			b.Fatal(err)
		}
	})
}

func bareLoop(b *testing.B, client *llm.Client, at llm.Endpoint, look tool.Tool) {
	b.Helper()
	req := llm.Request{
		Messages: []llm.Message{{Role: llm.User, Content: "look five times"}},
		Tools:    []llm.Function{{Name: "look", Parameters: look.Spec().Parameters}},
	}
	for {
		answer, err := client.Stream(b.Context(), at, req, func(llm.Delta) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		if len(answer.Calls) == 0 {
			return
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Content: answer.Text, Calls: answer.Calls})
		for _, c := range answer.Calls {
			result, err := look.Call(b.Context(), tool.Invocation{Args: []byte(c.Args)})
			if err != nil {
				b.Fatal(err)
			}
			req.Messages = append(req.Messages, llm.Message{Role: llm.Tool, CallID: c.ID, Content: result.Text})
		}
	}
}
