package mcp

import (
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// Members of `_meta` that are ours.
const (
	// MetaReason and MetaOutcome say of a call that was not answered why, and what may be assumed.
	MetaReason  = "dev.hecaton/reason"
	MetaOutcome = "dev.hecaton/outcome"
	// MetaTimeout says how long a call may take, in milliseconds.
	MetaTimeout = "dev.hecaton/timeout-ms"
)

// internal answers a request that failed for no fault of the client's. Details of what is not meant for clients stay here.
func internal(err error) *wire.Error {
	message := "Internal error"
	var reasoned *errs.Error
	if errors.As(err, &reasoned) {
		message = string(reasoned.Reason) + ": " + reasoned.Message
	}
	return &wire.Error{Code: jsonrpc.CodeInternalError, Message: message, Status: 200}
}

// toolError is the result of a call that failed, in words that a model can act on.
func toolError(text, meta string) catalogue.Result {
	b := jsonrpc.AppendString([]byte(`"content":[{"type":"text","text":`), text)
	return catalogue.Result{Members: [][]byte{append(b, `}],"isError":true`...)}, Meta: []byte(meta)}
}

// failure is the result of a call that was not answered.
func failure(err error) catalogue.Result {
	var reasoned *errs.Error
	var unanswered *catalogue.Unanswered
	switch {
	case errors.As(err, &unanswered):
		return outcome(unanswered.Message, unanswered.Outcome, unansweredMeta(unanswered))
	case errors.As(err, &reasoned):
		return outcome(reasoned.Message, reasoned.Class(), `"`+MetaReason+`":"`+string(reasoned.Reason)+`"`)
	}
	return toolError(edge.NewProblem(err, nil).Error, "")
}

func unansweredMeta(u *catalogue.Unanswered) string {
	if u.Reason == "" {
		return string(u.Meta)
	}
	meta := `"` + MetaReason + `":"` + u.Reason + `"`
	if len(u.Meta) > 0 {
		meta += "," + string(u.Meta)
	}
	return meta
}

// outcome is the result that says what may be assumed of a call; meta are members of its `_meta`.
func outcome(text string, class errs.Class, meta string) catalogue.Result {
	switch class {
	case errs.NotDelivered:
		text += ". The tool did not run; it is safe to call it again."
	case errs.Unknown:
		text += ". The tool may have run: check what it has done before you call it again."
	default:
		return toolError(text, meta)
	}
	if meta != "" {
		meta += ","
	}
	return toolError(text, meta+`"`+MetaOutcome+`":"`+string(class)+`"`)
}

// resultMeta is an empty result with these members in its `_meta`.
func resultMeta(members string) catalogue.Result { return catalogue.Result{Meta: []byte(members)} }
