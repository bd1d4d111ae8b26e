package edge

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

// Problem is an error answer. Calls that were not answered add `reason` and `outcome`, and `available_nodes` where one
// of them has to be chosen; requests that are refused add `reason`.
type Problem struct {
	Success bool       `json:"success"` // always false
	Type    string     `json:"type"`
	Title   string     `json:"title"`
	Status  int        `json:"status"`
	Detail  string     `json:"detail,omitempty"`
	Error   string     `json:"error"`
	Reason  string     `json:"reason,omitempty"`
	Outcome errs.Class `json:"outcome,omitempty"`
	Nodes   any        `json:"available_nodes,omitempty"`
	// The line and key of a text that was sent, where the fault is in one.
	*errs.Place
	// Limit is told in headers.
	Limit *errs.LimitMet `json:"-"`
}

// BadRequest is an error of the client's own making.
type BadRequest struct{ Message string }

func (e *BadRequest) Error() string { return e.Message }

// NodesView turns the nodes of an error into what REST shows; set by package rest.
type NodesView func(*errs.Error) any

// NewProblem describes err. Errors that are nobody's fault but ours are 500 without details.
func NewProblem(err error, view NodesView) Problem {
	p := Problem{Type: "about:blank", Detail: err.Error(), Error: err.Error()}
	var reasoned *errs.Error
	var who *auth.Error
	var bad *BadRequest
	var id *ids.InvalidError
	var large *TooLarge
	var slow *TooSlow
	switch {
	case errors.As(err, &reasoned):
		reason := reasoned.Reason
		p.Status, p.Title, p.Detail = reason.HTTPStatus(), reason.Title(), reasoned.Message
		p.Type, p.Reason = "https://hecaton.dev/problems/"+string(reason), string(reason)
		p.Error, p.Limit, p.Place = reasoned.Message, reasoned.Limit, reasoned.At
		if reason.Class() != errs.Refused {
			p.Outcome = reason.Class()
		}
		if len(reasoned.Nodes) > 0 {
			p.Nodes = view(reasoned)
		}
	case errors.As(err, &who):
		p.Status = who.HTTPStatus()
	case errors.As(err, &bad), errors.As(err, &id):
		p.Status = http.StatusBadRequest
	case errors.As(err, &large):
		p.Status, p.Title = http.StatusRequestEntityTooLarge, errs.TooLarge.Title()
		p.Type, p.Reason, p.Outcome = "https://hecaton.dev/problems/"+string(errs.TooLarge), string(errs.TooLarge), errs.NotDelivered
	case errors.As(err, &slow):
		p.Status = http.StatusRequestTimeout
	case status.Code(err) == codes.InvalidArgument:
		p.Status, p.Detail = http.StatusBadRequest, status.Convert(err).Message()
		p.Error = p.Detail
	case status.Code(err) == codes.NotFound:
		p.Status, p.Detail = http.StatusNotFound, status.Convert(err).Message()
		p.Error = p.Detail
	default:
		p.Status, p.Detail, p.Error = http.StatusInternalServerError, "", "internal error"
	}
	if p.Title == "" {
		p.Title = http.StatusText(p.Status)
	}
	return p
}

// Write answers with the problem.
func (p Problem) Write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/problem+json")
	if p.Status == http.StatusUnauthorized && w.Header().Get("WWW-Authenticate") == "" {
		w.Header().Set("WWW-Authenticate", auth.Challenge)
	}
	if p.Limit != nil {
		p.Limit.Headers(w.Header())
	}
	body, err := json.Marshal(p)
	if err != nil {
		body = []byte(`{"success":false,"error":"internal error"}`) // of what a problem holds, everything encodes
	}
	body = append(body, '\n')
	w.Header().Set("Content-Length", strconv.Itoa(len(body))) // so that the answer is whole before the connection's end
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // the client may be gone
}

// JSON answers with a body.
func JSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(body) // the client may be gone
}
