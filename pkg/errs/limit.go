package errs

import (
	"net/http"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/durationpb"
)

// LimitMet says which limit of a user a request has reached. It is told alike in REST (RateLimit-* and Retry-After), in a
// gRPC status (metadata of google.rpc.ErrorInfo, and google.rpc.RetryInfo), and on streams of many calls
// (hecaton.tool.v1.LimitMet).
type LimitMet struct {
	// Name of the limit, such as "calls".
	Name string
	// Limit is how much there is in all: of a rate what can be had at once, else how many or how large. Remaining is what is
	// left of it: where a request asked for more than one, it may be greater than 0.
	Limit, Remaining int64
	// RetryAfter is when the same request could pass, at the earliest.
	RetryAfter time.Duration
}

// Headers writes m to an HTTP answer, with times in whole seconds, rounded up.
func (m *LimitMet) Headers(h http.Header) {
	seconds := strconv.FormatInt(m.seconds(), 10)
	h.Set("Retry-After", seconds)
	h.Set("RateLimit-Limit", strconv.FormatInt(m.Limit, 10))
	h.Set("RateLimit-Remaining", strconv.FormatInt(m.Remaining, 10))
	h.Set("RateLimit-Reset", seconds)
}

// seconds is at least 1: a client that repeats the request at once would be refused again.
func (m *LimitMet) seconds() int64 { return max(1, int64((m.RetryAfter+time.Second-1)/time.Second)) }

// The members of ErrorInfo's metadata.
const (
	metaName      = "limit_name"
	metaLimit     = "limit"
	metaRemaining = "limit_remaining"
)

// describe adds m to the metadata of an ErrorInfo.
func (m *LimitMet) describe(metadata map[string]string) {
	metadata[metaName] = m.Name
	metadata[metaLimit] = strconv.FormatInt(m.Limit, 10)
	metadata[metaRemaining] = strconv.FormatInt(m.Remaining, 10)
}

// retryInfo is the status detail that goes with describe.
func (m *LimitMet) retryInfo() *errdetails.RetryInfo {
	return &errdetails.RetryInfo{RetryDelay: durationpb.New(m.RetryAfter)}
}

// readLimit is the inverse of describe and retryInfo; nil where the metadata has no limit.
func readLimit(metadata map[string]string, retry *errdetails.RetryInfo) *LimitMet {
	if metadata[metaName] == "" {
		return nil
	}
	m := &LimitMet{Name: metadata[metaName], RetryAfter: retry.GetRetryDelay().AsDuration()}
	m.Limit, _ = strconv.ParseInt(metadata[metaLimit], 10, 64) // of a peer that says nonsense nothing is known
	m.Remaining, _ = strconv.ParseInt(metadata[metaRemaining], 10, 64)
	return m
}
