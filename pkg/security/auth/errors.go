package auth

import (
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Challenge is the WWW-Authenticate header that an answer of status 401 owes its client (RFC 9110, section 11.6.1).
const Challenge = `Bearer realm="hecaton"`

// ErrRevoked is why what was begun with a token ended when the token was revoked.
var ErrRevoked = errors.New("the token was revoked")

// Kind is the class of a refusal. A Kind is itself an error, as a target of [errors.Is].
type Kind string

const (
	// BadRequest: the request contradicts itself or lacks what it must name; 400.
	BadRequest Kind = "bad request"
	// Unauthenticated: who is calling is not proven; 401.
	Unauthenticated Kind = "unauthenticated"
	// Forbidden: who is calling is known, or irrelevant, and may not do this; 403.
	Forbidden Kind = "forbidden"
)

// Error returns the kind's name.
func (k Kind) Error() string { return string(k) }

// Error is a refusal.
type Error struct {
	Kind Kind
	// Message is for the client.
	Message string
	// Err is the cause, for logs; it holds no part of a token.
	Err error
}

func refuse(kind Kind, cause error, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: cause}
}

func (e *Error) Error() string { return string(e.Kind) + ": " + e.Message }

// Is makes errors.Is(err, auth.Forbidden) true for every Error of that kind.
func (e *Error) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && k == e.Kind
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// HTTPStatus returns 400, 401 or 403.
func (e *Error) HTTPStatus() int {
	switch e.Kind {
	case BadRequest:
		return http.StatusBadRequest
	case Forbidden:
		return http.StatusForbidden
	default:
		return http.StatusUnauthorized
	}
}

// GRPCStatus makes an Error a gRPC error.
func (e *Error) GRPCStatus() *status.Status {
	switch e.Kind {
	case BadRequest:
		return status.New(codes.InvalidArgument, e.Message)
	case Forbidden:
		return status.New(codes.PermissionDenied, e.Message)
	default:
		return status.New(codes.Unauthenticated, e.Message)
	}
}
