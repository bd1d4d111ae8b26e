package redisclient

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
)

// patience bounds each step of a command: to dial, to write, to read. A caller whose Redis is away learns it in two
// seconds at most, and a Redis that is back is used by the next command.
const patience = time.Second

// lookAgain is how old the client's map of a Redis Cluster may be before the next command has it made anew, in the background. A node that is gone
// tells nobody of its successor, so nothing else would for the library's own minute.
const lookAgain = 2 * time.Second

// Open returns a client for a redis:// or, over TLS, a rediss:// URL; files say more of TLS. redis+cluster://user:password@host:port,host:port
// (and rediss+cluster) makes it a client of the Redis Cluster that these nodes belong to, and so do parameters addr=host:port of a redis:// URL. Where a
// master is lost, it asks the others for its successor. Timeouts in the URL win over ours. It connects when first used.
//
// Commands are not retried: the answer to a repeated command may be wrong, as when the first one has removed the key
// already.
//
// The library's own log, lines on stderr in a format of its own, is turned off for the process: what fails is reported by
// whoever asked for it.
func Open(rawURL string, files tlsfiles.Config) (redis.UniversalClient, error) {
	logging.Disable()
	rawURL = expand(rawURL)
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("redis url: %w", redact(err))
	}
	secure, err := overTLS(u, files)
	if err != nil {
		return nil, err
	}
	// The handshake for maintenance events of one hosted Redis costs every connection a round trip.
	quiet := &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if u.Query().Has("addr") {
		o, err := redis.ParseClusterURL(rawURL)
		if err != nil {
			return nil, fmt.Errorf("redis url: %w", redact(err))
		}
		o.DialTimeout, o.PoolTimeout = cmp.Or(o.DialTimeout, patience), cmp.Or(o.PoolTimeout, patience)
		o.ReadTimeout, o.WriteTimeout = cmp.Or(o.ReadTimeout, patience), cmp.Or(o.WriteTimeout, patience)
		o.DialerRetries, o.MaxRetries, o.ContextTimeoutEnabled = 1, -1, true
		o.MaintNotificationsConfig, o.DisableIdentity = quiet, true
		o.ClusterStateReloadInterval = lookAgain
		o.Dialer = dialer(o.DialTimeout, secure)
		return redis.NewClusterClient(o), nil
	}
	o, err := redis.ParseURL(rawURL)
	if err != nil {
		return nil, fmt.Errorf("redis url: %w", redact(err))
	}
	o.DialTimeout, o.PoolTimeout = cmp.Or(o.DialTimeout, patience), cmp.Or(o.PoolTimeout, patience)
	o.ReadTimeout, o.WriteTimeout = cmp.Or(o.ReadTimeout, patience), cmp.Or(o.WriteTimeout, patience)
	o.DialerRetries, o.MaxRetries, o.ContextTimeoutEnabled = 1, -1, true
	o.MaintNotificationsConfig, o.DisableIdentity = quiet, true
	o.Dialer = dialer(o.DialTimeout, secure)
	return redis.NewClient(o), nil
}

// overTLS reports whether the URL asks for TLS, and that the files can be used.
func overTLS(u *url.URL, files tlsfiles.Config) (func() (*tls.Config, error), error) {
	if u.Scheme != "rediss" {
		if files.Enabled() {
			return nil, errors.New("redis url: the files for TLS need a rediss:// URL")
		}
		return nil, nil
	}
	if err := files.Check(); err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	return files.Client, nil
}

// dialer makes connections; over TLS where secure, read anew for each, is given.
func dialer(timeout time.Duration, secure func() (*tls.Config, error)) func(ctx context.Context, network, addr string) (net.Conn, error) {
	plain := &net.Dialer{Timeout: timeout, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second}}
	if secure == nil {
		return plain.DialContext
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		config, err := secure()
		if err != nil {
			return nil, err
		}
		return (&tls.Dialer{NetDialer: plain, Config: config}).DialContext(ctx, network, addr)
	}
}

// redact drops the URL, which may hold a password, from an error of net/url.
func redact(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
