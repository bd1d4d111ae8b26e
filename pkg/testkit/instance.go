package testkit

import (
	"errors"
	"fmt"
	"os"

	"github.com/hecaton-dev/hecaton/pkg/transport/embedded"
)

// instance is a server on a port that it keeps across restarts.
type instance struct {
	kind    kind
	source  source
	port    int
	backend backend // nil while stopped
}

// launch starts a server from the first source that there is.
func launch(k kind) (*instance, error) {
	why := fmt.Errorf("no %s", k.name)
	for _, s := range k.sources {
		if s.standIn && os.Getenv("TEST_REQUIRE_REAL") == "1" {
			why = fmt.Errorf("%w; TEST_REQUIRE_REAL=1 forbids %s", why, s.name)
			continue
		}
		in, err := launchFrom(k, s)
		if err == nil {
			used.add(k.name, s.name)
			return in, nil
		}
		why = fmt.Errorf("%w; %s: %w", why, s.name, err)
		if !errors.Is(err, errUnavailable) { // a source that is there and fails is worth knowing about
			break
		}
	}
	return nil, why
}

// launchFrom retries on another port: between the choice of a port and its use anybody may take it.
func launchFrom(k kind, s source) (*instance, error) {
	var err error
	for range 10 {
		in := &instance{kind: k, source: s, port: FreePort()}
		if err = in.start(); err == nil {
			return in, nil
		}
		if !errors.Is(err, embedded.ErrListen) {
			return nil, errors.Join(err, in.drop())
		}
	}
	return nil, err
}

func (in *instance) start() error {
	b, err := in.source.start(in.port)
	if err != nil {
		return err
	}
	in.backend = b
	return nil
}

func (in *instance) stop() error {
	if in.backend == nil {
		return nil
	}
	b := in.backend
	in.backend = nil
	return b.stop()
}

// drop stops the server for good.
func (in *instance) drop() error {
	err := in.stop()
	if in.source.drop != nil {
		err = errors.Join(err, in.source.drop())
	}
	return err
}

func (in *instance) addr() string { return loopbackAddr(in.port) }

// url has a stand-in be waited for longer than a server: it runs on the test's own processors, and stops for a step of its
// clock.
func (in *instance) url() string {
	u := in.kind.name + "://" + in.addr()
	if in.source.standIn && in.kind.name == "redis" {
		u += "?read_timeout=10s"
	}
	return u
}
