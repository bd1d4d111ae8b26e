package errs

import (
	"maps"
	"net/http"
	"slices"

	"google.golang.org/grpc/codes"
)

// row maps one reason to its class, HTTP status, gRPC code and title.
type row struct {
	class Class
	http  int
	grpc  codes.Code
	title string
}

// Of calls: 409 not delivered because of the node's or session's state, 429 too much at once, 503 try again later, 504 unknown.
var table = map[Reason]row{
	NodeNotConnected:  {NotDelivered, http.StatusConflict, codes.FailedPrecondition, "The node is not connected"},
	NodeBusy:          {NotDelivered, http.StatusTooManyRequests, codes.ResourceExhausted, "The node is busy"},
	RequiresSelection: {NotDelivered, http.StatusConflict, codes.FailedPrecondition, "Several nodes are connected; choose one"},
	ToolNotOffered:    {NotDelivered, http.StatusConflict, codes.FailedPrecondition, "The node does not offer this tool"},
	TooLarge:          {NotDelivered, http.StatusConflict, codes.InvalidArgument, "The call is too large"},
	BusUnavailable:    {NotDelivered, http.StatusServiceUnavailable, codes.Unavailable, "The cluster cannot route calls right now"},
	Draining:          {NotDelivered, http.StatusServiceUnavailable, codes.Unavailable, "This pod is shutting down"},
	RateLimited:       {NotDelivered, http.StatusTooManyRequests, codes.ResourceExhausted, "The user has reached a limit"},
	ToolTimeout:       {Unknown, http.StatusGatewayTimeout, codes.DeadlineExceeded, "The node did not answer in time"},
	NodeDisconnected:  {Unknown, http.StatusGatewayTimeout, codes.Aborted, "The node disconnected during the call"},
	HolderLost:        {Unknown, http.StatusGatewayTimeout, codes.Aborted, "The pod that held the node was lost during the call"},
	Cancelled:         {Unknown, http.StatusGatewayTimeout, codes.Canceled, "The call was cancelled"},

	InvalidArgument:    {Refused, http.StatusBadRequest, codes.InvalidArgument, "The request is not valid"},
	ModelMissing:       {Refused, http.StatusBadRequest, codes.InvalidArgument, "No model is configured"},
	AddressRefused:     {Refused, http.StatusBadRequest, codes.InvalidArgument, "The address is not allowed"},
	FileTooLarge:       {Refused, http.StatusRequestEntityTooLarge, codes.OutOfRange, "The file is too large"},
	HostRefused:        {Refused, http.StatusForbidden, codes.PermissionDenied, "The host is not served here"},
	OriginRefused:      {Refused, http.StatusForbidden, codes.PermissionDenied, "The origin is not allowed"},
	InsufficientScope:  {Refused, http.StatusForbidden, codes.PermissionDenied, "The token does not allow this"},
	ContentTypeRefused: {Refused, http.StatusUnsupportedMediaType, codes.InvalidArgument, "The content type is not allowed"},
	SessionNotFound:    {Refused, http.StatusNotFound, codes.NotFound, "No such session"},
	ToolNotFound:       {Refused, http.StatusNotFound, codes.NotFound, "No such tool"},
	FileNotFound:       {Refused, http.StatusNotFound, codes.NotFound, "No such file"},
	TokenNotFound:      {Refused, http.StatusNotFound, codes.NotFound, "No such token"},
	ApprovalNotFound:   {Refused, http.StatusNotFound, codes.NotFound, "No such approval"},
	NodeNotFound:       {Refused, http.StatusNotFound, codes.NotFound, "No such node"},
	MemoryNotFound:     {Refused, http.StatusNotFound, codes.NotFound, "No such memory"},
	MemoryExists:       {Refused, http.StatusConflict, codes.AlreadyExists, "The same is remembered already"},
	MemoryInvalid:      {Refused, http.StatusUnprocessableEntity, codes.FailedPrecondition, "This cannot be remembered"},
	MemoryUnconfirmed:  {Refused, http.StatusUnprocessableEntity, codes.FailedPrecondition, "To forget all of a scope has to be confirmed"},
	SkillNotFound:      {Refused, http.StatusNotFound, codes.NotFound, "No such skill"},
	SkillExists:        {Refused, http.StatusConflict, codes.AlreadyExists, "There is a skill of this name"},
	SkillBundled:       {Refused, http.StatusConflict, codes.FailedPrecondition, "The skill comes with the server"},
	SkillChanged:       {Refused, http.StatusConflict, codes.Aborted, "The skill's files are not those that were saved"},
	SkillInvalid:       {Refused, http.StatusUnprocessableEntity, codes.FailedPrecondition, "The skill cannot be read"},
	SkillTooLarge:      {Refused, http.StatusRequestEntityTooLarge, codes.OutOfRange, "The skill is too large"},
	SkillUnavailable:   {Refused, http.StatusUnprocessableEntity, codes.FailedPrecondition, "A skill of the request cannot be used"},
	RunActive:          {Refused, http.StatusConflict, codes.Aborted, "The session has an active run"},
	Interrupted:        {Refused, http.StatusConflict, codes.Aborted, "The session is waiting for a decision"},
	NotInterrupted:     {Refused, http.StatusConflict, codes.Aborted, "The session is not waiting for a decision"},
	AlreadyDecided:     {Refused, http.StatusConflict, codes.Aborted, "The call was already decided"},
	ApprovalExpired:    {Refused, http.StatusConflict, codes.Aborted, "The time to decide has expired"},
	NameTaken:          {Refused, http.StatusConflict, codes.AlreadyExists, "The name is taken"},
	LimitReached:       {Refused, http.StatusConflict, codes.Aborted, "The limit is reached"},
	RunsLimited:        {Refused, http.StatusTooManyRequests, codes.ResourceExhausted, "The user has too many active runs"},
	StorageFull:        {Refused, http.StatusTooManyRequests, codes.ResourceExhausted, "The user's file storage is full"},
	UnknownCall:        {Refused, http.StatusUnprocessableEntity, codes.FailedPrecondition, "A decision names a call that is not waiting"},
	MissingDecision:    {Refused, http.StatusUnprocessableEntity, codes.FailedPrecondition, "A decision is missing"},
	InvalidDecision:    {Refused, http.StatusUnprocessableEntity, codes.FailedPrecondition, "A decision is not valid"},
	DigestDiffers:      {Refused, http.StatusUnprocessableEntity, codes.FailedPrecondition, "The decision is for a different call than the one shown"},
	AgentUnavailable:   {Refused, http.StatusServiceUnavailable, codes.Unavailable, "The agent server is not available"},

	KnowledgeBaseNotFound: {Refused, http.StatusNotFound, codes.NotFound, "No such knowledge base"},
	DocumentNotFound:      {Refused, http.StatusNotFound, codes.NotFound, "No such document"},
	DocumentBusy:          {Refused, http.StatusConflict, codes.Aborted, "The document is being processed, or was"},
	FileTypeRefused:       {Refused, http.StatusUnsupportedMediaType, codes.InvalidArgument, "Files of this type cannot be read"},
	KnowledgeUnavailable:  {Refused, http.StatusServiceUnavailable, codes.Unavailable, "Knowledge bases are not available"},

	TaskNotFound:         {Refused, http.StatusNotFound, codes.NotFound, "No such task"},
	NotificationNotFound: {Refused, http.StatusNotFound, codes.NotFound, "No such notification"},
	TaskState:            {Refused, http.StatusConflict, codes.Aborted, "The task's state does not allow it"},
	ScheduleInvalid:      {Refused, http.StatusUnprocessableEntity, codes.InvalidArgument, "The schedule is not valid"},

	Internal: {Refused, http.StatusInternalServerError, codes.Internal, "Internal error"},
}

// Known reports whether r is one of this package's reasons.
func (r Reason) Known() bool { _, ok := table[r]; return ok }

// Error returns the reason's name.
func (r Reason) Error() string { return string(r) }

// row is r's row. An unknown reason, which a newer peer may send, is read with caution: its outcome is unknown.
func (r Reason) row() row {
	if t, ok := table[r]; ok {
		return t
	}
	return row{Unknown, http.StatusGatewayTimeout, codes.Unknown, "The outcome of the call is unknown"}
}

// Class returns what the caller may assume; [Unknown], where r is not known.
func (r Reason) Class() Class { return r.row().class }

// HTTPStatus returns the status of a REST answer.
func (r Reason) HTTPStatus() int { return r.row().http }

// GRPCCode returns the status code of a gRPC answer.
func (r Reason) GRPCCode() codes.Code { return r.row().grpc }

// Title returns one sentence for people.
func (r Reason) Title() string { return r.row().title }

// OfCall reports whether r is one of this package's reasons why a node did not answer a call: whether it is known, and
// says what became of the call.
func (r Reason) OfCall() bool { return r.Known() && r.Class() != Refused }

// Reasons returns every reason, in no order.
func Reasons() []Reason { return slices.Collect(maps.Keys(table)) }

// CallReasons returns every reason why a node did not answer a call, in no order.
func CallReasons() []Reason {
	return slices.DeleteFunc(Reasons(), func(r Reason) bool { return !r.OfCall() })
}
