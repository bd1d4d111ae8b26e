package llm

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// What endpoints answer if a request is too long (docs/protocols/zeus-agents.md#errors-of-a-run, and what the larger ones
// answer today), in lower case.
var (
	inputTooLong = []string{"range of input length", "invalidparameter"}
	overflow     = []string{
		"context_length_exceeded", "context length", "context window", "context size", "token limit",
		"prompt is too long", "too many tokens", "maximum number of tokens",
	}
	// knownCodes may be shown to people: they contain nothing of the request.
	knownCodes = []string{
		"model_not_found", "invalid_api_key", "insufficient_quota", "rate_limit_exceeded", "content_filter",
		"content_policy_violation", "unsupported_parameter", "unsupported_value", "invalid_request_error", "server_error", "overloaded_error",
	}
)

// refused returns the error that a response without an answer means.
func refused(r *http.Response, body []byte) *Error {
	status := r.StatusCode
	e := errorByText(body)
	switch {
	case status == http.StatusOK:
		return &Error{Code: ModelProtocol, Message: "the endpoint answered with a page for people"}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Code, e.again = Unauthorized, false
	case status == http.StatusTooManyRequests:
		e.Code, e.again = RateLimited, !mentions(body, "insufficient_quota")
	case status == http.StatusPaymentRequired:
		e.Code, e.again = RateLimited, false
	case status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooEarly:
		if e.Code == ModelProtocol {
			e.Code, e.again = ModelUnavailable, true
		}
	case status == http.StatusRequestEntityTooLarge && e.Code == ModelProtocol:
		e.Code = InputTooLong
	case status >= 300 && status < 400:
		return &Error{Code: ModelProtocol, Message: fmt.Sprintf("the endpoint redirects (status %d), which is not followed", status)}
	case status == http.StatusBadRequest || status == http.StatusUnprocessableEntity:
		e.plain = mentions(body, "stream_options") || mentions(body, "include_usage")
	}
	e.Message = fmt.Sprintf("%s (status %d%s)", words[e.Code], status, knownCode(body))
	e.after = retryAfter(r.Header)
	return e
}

// errorByText finds the kind of error in the text of an answer, whatever the status. The text itself may repeat the request,
// so it is not passed on.
func errorByText(body []byte) *Error {
	code := ModelProtocol
	switch {
	case mentions(body, inputTooLong...):
		code = InputTooLong
	case mentions(body, overflow...):
		code = ContextOverflow
	}
	return &Error{Code: code, Message: words[code]}
}

// reported returns the error for an error document that came in place of an answer.
func reported(body []byte) *Error {
	e := errorByText(body)
	if e.Code == ModelProtocol {
		switch {
		case mentions(body, "invalid_api_key", "unauthorized", "authentication_error", `"code":401`, `"code":403`):
			e.Code = Unauthorized
		case mentions(body, "insufficient_quota"):
			e.Code = RateLimited
		case mentions(body, "rate_limit", "rate limit", `"code":429`):
			e.Code, e.again = RateLimited, true
		default:
			e.Code, e.again = ModelUnavailable, true
		}
	}
	e.Message = words[e.Code] + " (an error in place of an answer" + knownCode(body) + ")"
	return e
}

var words = map[Code]string{
	Unauthorized:     "the endpoint does not accept the key",
	RateLimited:      "the endpoint's limit or quota is used up",
	ContextOverflow:  "the conversation is longer than the model's context",
	InputTooLong:     "the input is longer than the endpoint takes",
	ModelUnavailable: "the model cannot be reached or failed",
	ModelProtocol:    "the endpoint refused the request or answered something that is not understood",
}

func knownCode(body []byte) string {
	for _, code := range knownCodes {
		if mentions(body, `"`+code+`"`) {
			return ", " + code
		}
	}
	return ""
}

func mentions(body []byte, texts ...string) bool {
	low := bytes.ToLower(body)
	for _, t := range texts {
		if bytes.Contains(low, []byte(t)) {
			return true
		}
	}
	return false
}

// unreachable returns the error that an error of the connection means. headed says that a response had begun.
func unreachable(err error, headed bool) *Error {
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err // without the address, which may hold a key
	} else if !headed {
		// Not an error of the network: the library refuses to send this.
		return &Error{Code: ModelProtocol, Message: "this model does not take such a request over chat completions"}
	}
	var forged *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errs.AddressRefused):
		return &Error{Code: ModelUnavailable, Message: "the model's address is not one that users may name, or has no public host", Err: err}
	case errors.As(err, &forged):
		return &Error{Code: ModelUnavailable, Message: "the endpoint's certificate does not fit its name", Err: err}
	case headed:
		return &Error{Code: ModelUnavailable, Message: "the connection to the model broke", Err: err, again: true}
	}
	return &Error{Code: ModelUnavailable, Message: "the model cannot be reached", Err: err, again: true}
}
