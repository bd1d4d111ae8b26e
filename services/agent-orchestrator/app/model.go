package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/offlinemodel"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
)

// openAI is where the model is when only a key is given.
const openAI = "https://api.openai.com/v1"

// openModel makes the client of models, and finds the one of requests that name none.
func (a *App) openModel(ctx context.Context) error {
	client, err := llm.New(llm.Options{Guarded: a.guard, Stall: a.cfg.StallTimeout, Logger: a.log})
	if err != nil {
		return err
	}
	a.model = client
	a.endpoint = llm.Endpoint{BaseURL: a.cfg.OpenAIURL, APIKey: a.cfg.OpenAIKey.Reveal(), Model: a.cfg.OpenAIModel}
	if a.endpoint.BaseURL == "" && a.endpoint.APIKey != "" {
		a.endpoint.BaseURL = openAI
	}
	if a.cfg.LLM != LLMOffline {
		return nil
	}
	server, err := serveOffline(ctx)
	if err != nil {
		return err
	}
	a.offline = server
	a.endpoint = llm.Endpoint{BaseURL: server.url + "/v1", Model: offlinemodel.Name}
	return nil
}

func (a *App) closeModel(context.Context) error {
	a.model.Close()
	if a.offline == nil {
		return nil
	}
	return a.offline.close()
}

// offlineServer is the model of this process, on a loopback port: runs reach it as they reach any other.
type offlineServer struct {
	url    string
	server *http.Server
	ended  chan error
}

func serveOffline(ctx context.Context) (*offlineServer, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("port of the offline model: %w", err)
	}
	o := &offlineServer{
		url:    "http://" + listener.Addr().String(),
		server: &http.Server{Handler: offlinemodel.New(offlinemodel.Options{}), ReadHeaderTimeout: 10 * time.Second},
		ended:  make(chan error, 1),
	}
	go func() { o.ended <- o.server.Serve(listener) }()
	return o, nil
}

// close cuts what is left: the runs that asked have ended.
func (o *offlineServer) close() error {
	err := o.server.Close()
	if served := <-o.ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
