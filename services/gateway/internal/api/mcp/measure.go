package mcp

import (
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
)

// Operation is one request that has been answered, in the attributes of OpenTelemetry's conventions for MCP servers.
type Operation struct {
	// Method is mcp.method.name; "_OTHER" for one that there is not.
	Method string
	// Version is mcp.protocol.version.
	Version string
	// Error is error.type: a JSON-RPC code, or the reason why a device did not answer; empty for none. What a device itself calls an
	// error passes unread.
	Error string
	Took  time.Duration
}

// otherMethod stands for every method that there is not: clients choose names without end.
const otherMethod = "_OTHER"

// measure tells of the end of a request. How long a client listens is its own affair.
func (q *query) measure(began time.Time) {
	if q.api.Ended == nil || q.msg.Method == "subscriptions/listen" && q.problem == "" {
		return
	}
	o := Operation{Method: q.msg.Method, Version: q.version, Error: q.problem, Took: time.Since(began)}
	if _, ok := q.api.methods[o.Method]; !ok {
		o.Method = otherMethod
	}
	q.api.Ended(o)
}

// unanswered answers a call that its device did not answer.
func (q *query) unanswered(err error) {
	var reasoned *errs.Error
	var unanswered *catalogue.Unanswered
	q.problem = "_OTHER"
	switch {
	case errors.As(err, &reasoned):
		q.problem = string(reasoned.Reason)
	case errors.As(err, &unanswered) && unanswered.Reason != "":
		q.problem = unanswered.Reason
	}
	q.result(failure(err))
}
