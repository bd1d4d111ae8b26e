package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/model/offlinemodel"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/heap"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"

	"github.com/hecaton-dev/hecaton/services/e2e/bench/loop"
)

// playOrchestrator runs one as its own main does, the pace of its garbage collection included.
func playOrchestrator(w wiring) (Addresses, error) {
	heap.KeepHeadroom(orchestrator.Headroom)
	cfg := orchestrator.Config{
		PodName: w.Name, GRPCAddr: loopback, AdminAddr: loopback, NATSURL: as(access.AgentOrchestrator, w.NATS), Gateways: []string{w.Gateway},
		DatabaseURL: config.Secret(w.Database), BlobURL: config.Secret("file://" + filepath.Join(w.Directory, "files")),
		SecretKeys: config.Secret(base64.StdEncoding.EncodeToString(make([]byte, 32))),
		LLM:        orchestrator.LLMOpenAI, OpenAIURL: w.Model, OpenAIModel: offlinemodel.Name,
	}
	if err := config.Defaults(&cfg); err != nil {
		return Addresses{}, err
	}
	cfg.Limits = orchestrator.Limits{} // one user has all the runs
	app, err := orchestrator.New(cfg, orchestrator.Options{Logger: slog.Default()})
	if err != nil {
		return Addresses{}, err
	}
	if err := begin(app.Run, app.Started()); err != nil {
		return Addresses{}, err
	}
	return Addresses{GRPC: app.GRPCAddr()}, nil
}

// Tools that the agents call. noTool does as good as nothing.
const (
	noTool   = "read_todos"
	noResult = "[]"
)

// playBareAgent runs a bare loop, which calls nodes through the same client as an orchestrator does.
func playBareAgent(w wiring) (Addresses, error) {
	o := loop.Options{BaseURL: w.Model}
	if err := json.Unmarshal(w.Ask, &o.Ask); err != nil {
		return Addresses{}, err
	}
	tools, err := toolclient.Dial(toolclient.Options{
		Targets: []string{w.Gateway}, Dial: []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())},
	})
	if err != nil {
		return Addresses{}, err
	}
	o.Call = func(ctx context.Context, user, name, args string) (string, error) {
		if name == noTool {
			return noResult, nil
		}
		answer, err := tools.Call(ctx, &toolv1.Call{UserId: user, ToolName: name, ArgumentsJson: []byte(args)})
		if err != nil {
			return "", err
		}
		return textOf(answer)
	}
	ln, err := net.Listen("tcp", loopback)
	if err != nil {
		return Addresses{}, err
	}
	s := grpc.NewServer()
	agentv1.RegisterAgentServiceServer(s, loop.Agent{Loop: loop.New(o)})
	go func() { slog.Error("bare agent", "error", s.Serve(ln)) }()
	return Addresses{GRPC: ln.Addr().String()}, nil
}

func textOf(answer *toolv1.Answer) (string, error) {
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(answer.GetResultJson(), &result); err != nil {
		return "", err
	}
	if len(result.Content) != 1 {
		return "", fmt.Errorf("a result has %d parts, want one", len(result.Content))
	}
	return result.Content[0].Text, nil
}
