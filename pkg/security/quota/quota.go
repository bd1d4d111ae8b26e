package quota

import (
	"net/http"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Met says which limit of a user a request met.
type Met struct {
	// Name of the limit, such as "calls".
	Name string
	// Limit is how much there is in all: of a rate what can be had at once, else how many or how large. Remaining is what is
	// left of it: where a request asked for more than one, it may be greater than 0.
	Limit, Remaining int64
	// RetryAfter is when the same request could pass, at the earliest.
	RetryAfter time.Duration
}

// Headers tells m in an HTTP answer, in whole seconds, which are rounded up.
func (m *Met) Headers(h http.Header) {
	seconds := strconv.FormatInt(m.seconds(), 10)
	h.Set("Retry-After", seconds)
	h.Set("RateLimit-Limit", strconv.FormatInt(m.Limit, 10))
	h.Set("RateLimit-Remaining", strconv.FormatInt(m.Remaining, 10))
	h.Set("RateLimit-Reset", seconds)
}

// seconds is at least 1: who comes back at once would only be refused again.
func (m *Met) seconds() int64 { return max(1, int64((m.RetryAfter+time.Second-1)/time.Second)) }

// The members of ErrorInfo's metadata.
const (
	metaName      = "limit_name"
	metaLimit     = "limit"
	metaRemaining = "limit_remaining"
)

// Describe adds m to the metadata of an ErrorInfo.
func (m *Met) Describe(metadata map[string]string) {
	metadata[metaName] = m.Name
	metadata[metaLimit] = strconv.FormatInt(m.Limit, 10)
	metadata[metaRemaining] = strconv.FormatInt(m.Remaining, 10)
}

// RetryInfo is the status detail that goes with [Met.Describe].
func (m *Met) RetryInfo() *errdetails.RetryInfo {
	return &errdetails.RetryInfo{RetryDelay: durationpb.New(m.RetryAfter)}
}

// Read is the inverse of Describe and RetryInfo; nil where the metadata tell of no limit.
func Read(metadata map[string]string, retry *errdetails.RetryInfo) *Met {
	if metadata[metaName] == "" {
		return nil
	}
	m := &Met{Name: metadata[metaName], RetryAfter: retry.GetRetryDelay().AsDuration()}
	m.Limit, _ = strconv.ParseInt(metadata[metaLimit], 10, 64) // of a peer that says nonsense nothing is known
	m.Remaining, _ = strconv.ParseInt(metadata[metaRemaining], 10, 64)
	return m
}
