package limits

import (
	"errors"
	"fmt"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// Settings are how much one user may have. 0 means no limit. All but OpenCalls and FailedLogins hold across pods.
type Settings struct {
	CallsPerSecond    int         `conf:"calls-per-second" env:"CALLS_PER_SECOND" default:"200" help:"requests and tool calls a second of one user, on all ways together; 0 for no limit, here as in the others"`
	CallsBurst        int         `conf:"calls-burst" env:"CALLS_BURST" default:"400" help:"how many of them may come at once"`
	OpenCalls         int         `conf:"open-calls" env:"OPEN_CALLS" default:"1024" help:"requests and tool calls of one user that a pod has open at one time"`
	ConnectsPerSecond int         `conf:"connects-per-second" env:"CONNECTS_PER_SECOND" default:"10" help:"sockets a second that one user may open"`
	ConnectsBurst     int         `conf:"connects-burst" env:"CONNECTS_BURST" default:"30" help:"how many of them may come at once"`
	WebSockets        int         `conf:"web-sockets" env:"WEB_SOCKETS" default:"32" help:"web clients of one user that are connected at one time"`
	Streams           int         `conf:"streams" env:"STREAMS" default:"64" help:"event streams of one user that are open at one time"`
	BytesPerSecond    config.Size `conf:"bytes-per-second" env:"BYTES_PER_SECOND" default:"16MiB" help:"bytes a second that one user's clients and nodes may send"`
	BytesBurst        config.Size `conf:"bytes-burst" env:"BYTES_BURST" default:"128MiB" help:"how many of them may come at once"`

	FailedLoginsPerSecond int `conf:"failed-logins-per-second" env:"FAILED_LOGINS_PER_SECOND" default:"10" help:"refused logins a second of one address that a pod answers with the reason; more are answered 429. Who logs in with a good token is never held up"`
	FailedLoginsBurst     int `conf:"failed-logins-burst" env:"FAILED_LOGINS_BURST" default:"100" help:"how many of them may come at once"`
}

// Validate reports what cannot work.
func (s Settings) Validate() error {
	var problems []error
	for name, value := range map[string]int{
		"calls-per-second": s.CallsPerSecond, "open-calls": s.OpenCalls, "connects-per-second": s.ConnectsPerSecond,
		"web-sockets": s.WebSockets, "streams": s.Streams, "bytes-per-second": int(s.BytesPerSecond),
		"failed-logins-per-second": s.FailedLoginsPerSecond,
	} {
		if value < 0 {
			problems = append(problems, fmt.Errorf("limit-%s must not be negative; 0 is no limit", name))
		}
	}
	for l := range names {
		if r := s.rate(limit(l)); limit(l) < rates && !r.none() && r.burst < 1 {
			problems = append(problems, fmt.Errorf("limit-%s-burst must be at least 1", names[l]))
		}
	}
	if s.FailedLoginsPerSecond > 0 && s.FailedLoginsBurst < 1 {
		problems = append(problems, errors.New("limit-failed-logins-burst must be at least 1"))
	}
	return errors.Join(problems...)
}

// A limit by its place in arrays; the rates come first.
type limit int

const (
	calls limit = iota
	connects
	sentBytes
	webSockets
	streams
	openCalls
	failedLogins

	rates = sentBytes + 1 // how many are rates
	kinds = streams + 1   // how many are shared, rates and places
)

// names are the limits as clients, the registry and metrics know them.
var names = [...]string{
	calls: "calls", connects: "connects", sentBytes: "bytes", webSockets: "web_sockets", streams: "streams",
	openCalls: "open_calls", failedLogins: "failed_logins",
}

// share is which part of a limit a pod gives by itself before it tells or asks.
const share = 16

func (s Settings) rate(l limit) rate {
	switch l {
	case calls:
		return rate{float64(s.CallsPerSecond), float64(s.CallsBurst)}
	case connects:
		return rate{float64(s.ConnectsPerSecond), float64(s.ConnectsBurst)}
	case sentBytes:
		return rate{float64(s.BytesPerSecond), float64(s.BytesBurst)}
	}
	return rate{float64(s.FailedLoginsPerSecond), float64(s.FailedLoginsBurst)}
}

func (s Settings) most(l limit) int {
	switch l {
	case webSockets:
		return s.WebSockets
	case streams:
		return s.Streams
	}
	return s.OpenCalls
}
