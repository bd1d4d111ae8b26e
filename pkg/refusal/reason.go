package refusal

import (
	"maps"
	"net/http"
	"slices"

	"google.golang.org/grpc/codes"
)

// Reason says why a request was refused. A Reason is itself an error, as a target of [errors.Is].
type Reason string

// What the request says is wrong by itself.
const (
	InvalidArgument Reason = "INVALID_ARGUMENT"
	ModelMissing    Reason = "MODEL_MISSING"
	AddressRefused  Reason = "ADDRESS_REFUSED"
	FileTooLarge    Reason = "FILE_TOO_LARGE"
)

// Where it comes from, or the form it comes in, is one that a web page can make a browser send.
const (
	HostRefused        Reason = "HOST_REFUSED"
	OriginRefused      Reason = "ORIGIN_REFUSED"
	ContentTypeRefused Reason = "CONTENT_TYPE_REFUSED"
)

// What it names is not there, or is not the user's: nobody can tell which.
const (
	SessionNotFound Reason = "SESSION_NOT_FOUND"
	ToolNotFound    Reason = "TOOL_NOT_FOUND"
	FileNotFound    Reason = "FILE_NOT_FOUND"
	NodeNotFound    Reason = "NODE_NOT_FOUND"
)

// The state of what it names forbids it.
const (
	RunActive       Reason = "RUN_ACTIVE"
	Interrupted     Reason = "INTERRUPTED"
	NotInterrupted  Reason = "NOT_INTERRUPTED"
	AlreadyDecided  Reason = "ALREADY_DECIDED"
	ApprovalExpired Reason = "APPROVAL_EXPIRED"
	NameTaken       Reason = "NAME_TAKEN"
	LimitReached    Reason = "LIMIT_REACHED"
)

// A limit of the user is met.
const (
	RunsLimited Reason = "RUNS_LIMITED"
	StorageFull Reason = "STORAGE_FULL"
)

// Decisions that do not fit what was asked; the interrupt goes on waiting (docs/agent-runs.md#approvals).
const (
	UnknownCall     Reason = "UNKNOWN_CALL"
	MissingDecision Reason = "MISSING_DECISION"
	InvalidDecision Reason = "INVALID_DECISION"
	DigestDiffers   Reason = "DIGEST_DIFFERS"
)

// Nothing is wrong with the request.
const (
	Unavailable Reason = "AGENT_UNAVAILABLE"
	Internal    Reason = "INTERNAL"
)

type row struct {
	http  int
	grpc  codes.Code
	title string
}

var table = map[Reason]row{
	InvalidArgument:    {http.StatusBadRequest, codes.InvalidArgument, "The request is not valid"},
	ModelMissing:       {http.StatusBadRequest, codes.InvalidArgument, "No model is configured"},
	AddressRefused:     {http.StatusBadRequest, codes.InvalidArgument, "The address is not allowed"},
	FileTooLarge:       {http.StatusRequestEntityTooLarge, codes.OutOfRange, "The file is too large"},
	HostRefused:        {http.StatusForbidden, codes.PermissionDenied, "The host is not served here"},
	OriginRefused:      {http.StatusForbidden, codes.PermissionDenied, "The origin is not allowed"},
	ContentTypeRefused: {http.StatusUnsupportedMediaType, codes.InvalidArgument, "The content type is not allowed"},
	SessionNotFound:    {http.StatusNotFound, codes.NotFound, "No such session"},
	ToolNotFound:       {http.StatusNotFound, codes.NotFound, "No such tool"},
	FileNotFound:       {http.StatusNotFound, codes.NotFound, "No such file"},
	NodeNotFound:       {http.StatusNotFound, codes.NotFound, "No such node"},
	RunActive:          {http.StatusConflict, codes.Aborted, "The session has a run that is active"},
	Interrupted:        {http.StatusConflict, codes.Aborted, "The session waits for a decision"},
	NotInterrupted:     {http.StatusConflict, codes.Aborted, "The session waits for no decision"},
	AlreadyDecided:     {http.StatusConflict, codes.Aborted, "This was decided before"},
	ApprovalExpired:    {http.StatusConflict, codes.Aborted, "The time to decide is over"},
	NameTaken:          {http.StatusConflict, codes.AlreadyExists, "The name is taken"},
	LimitReached:       {http.StatusConflict, codes.Aborted, "There may be no more of these"},
	RunsLimited:        {http.StatusTooManyRequests, codes.ResourceExhausted, "This user has as many runs as one may have"},
	StorageFull:        {http.StatusTooManyRequests, codes.ResourceExhausted, "This user's files take all the room that they may"},
	UnknownCall:        {http.StatusUnprocessableEntity, codes.FailedPrecondition, "A decision names a call that does not wait"},
	MissingDecision:    {http.StatusUnprocessableEntity, codes.FailedPrecondition, "A decision is missing"},
	InvalidDecision:    {http.StatusUnprocessableEntity, codes.FailedPrecondition, "A decision is not valid"},
	DigestDiffers:      {http.StatusUnprocessableEntity, codes.FailedPrecondition, "The decision is about something else"},
	Unavailable:        {http.StatusServiceUnavailable, codes.Unavailable, "The agent server cannot serve right now"},
	Internal:           {http.StatusInternalServerError, codes.Internal, "Internal error"},
}

// Known reports whether r is one of this package's reasons.
func (r Reason) Known() bool { _, ok := table[r]; return ok }

// Error returns the reason's name.
func (r Reason) Error() string { return string(r) }

func (r Reason) row() row {
	if t, ok := table[r]; ok {
		return t
	}
	return table[Internal]
}

// HTTPStatus returns the status of a REST answer.
func (r Reason) HTTPStatus() int { return r.row().http }

// GRPCCode returns the status code of a gRPC answer.
func (r Reason) GRPCCode() codes.Code { return r.row().grpc }

// Title returns one sentence for people.
func (r Reason) Title() string { return r.row().title }

// Reasons returns every reason, in no order.
func Reasons() []Reason { return slices.Collect(maps.Keys(table)) }
