package testkit

import (
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

var natsKind = kind{name: "nats", sources: []source{
	{name: "nats-server in this process", start: startNATS},
}}

type natsBackend struct{ *server.Server }

// startNATS runs a server with NATS's own defaults, max_payload included: nothing may depend on a tuned one.
func startNATS(port int) (backend, error) {
	s, err := server.NewServer(&server.Options{Host: loopback, Port: port, NoSigs: true, NoLog: true})
	if err != nil {
		return nil, fmt.Errorf("nats-server: %w", err)
	}
	s.Start()
	if s.Addr() == nil { // Start listens before it returns, and reports a failure to its log only
		_ = natsBackend{s}.stop()
		return nil, errPortTaken
	}
	if !s.ReadyForConnections(10 * time.Second) {
		_ = natsBackend{s}.stop()
		return nil, fmt.Errorf("nats-server on port %d is not ready after 10 s", port)
	}
	return natsBackend{s}, nil
}

func (b natsBackend) stop() error {
	b.Shutdown()
	b.WaitForShutdown()
	return nil
}
