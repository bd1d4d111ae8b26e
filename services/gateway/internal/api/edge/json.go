package edge

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// TooLarge is the error of a body that has more bytes than its route takes; 413.
type TooLarge struct {
	// Limit is how many bytes the route takes; 0 where that is not known.
	Limit int64
}

func (e *TooLarge) Error() string {
	if e.Limit == 0 {
		return "the request is too large"
	}
	return fmt.Sprintf("the request has more than %d bytes, which is the limit here", e.Limit)
}

// declared is the largest announced length that is believed: up to there, room for the whole body is made at once.
const declared = 64 << 10

// ReadBody reads a request's body. It costs at most three times the bytes that arrive, whatever length was announced.
func ReadBody(r *http.Request) (body []byte, err error) {
	if n := r.ContentLength; n > 0 && n <= declared {
		body = make([]byte, n)
		_, err = io.ReadFull(r.Body, body)
	} else {
		body, err = io.ReadAll(r.Body)
	}
	return body, BodyError(err)
}

// BodyError returns the error that a client is told when its body could not be read.
func BodyError(err error) error {
	if err == nil {
		return nil
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &TooLarge{large.Limit}
	}
	if slow, ok := errors.AsType[*TooSlow](err); ok {
		return slow
	}
	return &BadRequest{Message: "the body did not arrive whole"}
}

// ReadJSON reads a body that must be JSON, nested no deeper than [jsonrpc.MaxRequestDepth].
func ReadJSON(r *http.Request) ([]byte, error) {
	body, err := ReadBody(r)
	if err != nil {
		return nil, err
	}
	return body, CheckJSON(body)
}

// CheckJSON refuses what [ReadJSON] does not read.
func CheckJSON(body []byte) error {
	err := jsonrpc.ValidRequest(body)
	if syntax, ok := errors.AsType[*jsonrpc.SyntaxError](err); ok && syntax.Deep {
		return &BadRequest{Message: "the body cannot be read: " + err.Error()}
	}
	if err != nil {
		return &BadRequest{Message: "the body is not JSON: " + err.Error()}
	}
	return nil
}

// Decode reads a body that must be a JSON object into a struct, as [jsonrpc.Decode] does.
func Decode(r *http.Request, into any) error {
	body, err := ReadJSON(r)
	if err != nil {
		return err
	}
	return DecodeBody(body, into)
}

// DecodeBody is [Decode] for a body that [ReadJSON] has read.
func DecodeBody(body []byte, into any) error {
	switch err := jsonrpc.Decode(body, into); {
	case errors.Is(err, jsonrpc.ErrNotObject):
		return &BadRequest{Message: "the body must be a JSON object"}
	case err != nil:
		return &BadRequest{Message: err.Error()}
	}
	return nil
}
