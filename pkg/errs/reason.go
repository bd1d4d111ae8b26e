package errs

// Class says what the caller may assume.
type Class string

const (
	// NotDelivered: the node never saw the call; trying again is safe.
	NotDelivered Class = "not_delivered"
	// Unknown: the node may have run the call; nothing but the caller may try again.
	Unknown Class = "unknown"
	// Refused: the server did not serve the request, and has changed nothing.
	Refused Class = "refused"
)

// Reason says why a call was not answered, or a request was refused. A Reason is itself an error, as a target of [errors.Is].
type Reason string

// The reasons of class [NotDelivered].
const (
	NodeNotConnected  Reason = "NODE_NOT_CONNECTED"
	NodeBusy          Reason = "NODE_BUSY"
	RequiresSelection Reason = "REQUIRES_SELECTION"
	ToolNotOffered    Reason = "TOOL_NOT_OFFERED"
	TooLarge          Reason = "TOO_LARGE"
	BusUnavailable    Reason = "BUS_UNAVAILABLE"
	Draining          Reason = "DRAINING"
	RateLimited       Reason = "RATE_LIMITED"
)

// The reasons of class [Unknown].
const (
	ToolTimeout      Reason = "TOOL_TIMEOUT"
	NodeDisconnected Reason = "NODE_DISCONNECTED"
	HolderLost       Reason = "HOLDER_LOST"
	Cancelled        Reason = "CANCELLED"
)

// The reasons of class [Refused]. The request itself is not valid:
const (
	InvalidArgument Reason = "INVALID_ARGUMENT"
	ModelMissing    Reason = "MODEL_MISSING"
	AddressRefused  Reason = "ADDRESS_REFUSED"
	FileTooLarge    Reason = "FILE_TOO_LARGE"
	ScheduleInvalid Reason = "SCHEDULE_INVALID"
)

// A web page could have made a browser send the request:
const (
	HostRefused        Reason = "HOST_REFUSED"
	OriginRefused      Reason = "ORIGIN_REFUSED"
	ContentTypeRefused Reason = "CONTENT_TYPE_REFUSED"
)

// The token that the request came with is for less than this:
const InsufficientScope Reason = "INSUFFICIENT_SCOPE"

// What the request names does not exist, or is another user's; the answer does not tell which:
const (
	SessionNotFound Reason = "SESSION_NOT_FOUND"
	ToolNotFound    Reason = "TOOL_NOT_FOUND"
	FileNotFound    Reason = "FILE_NOT_FOUND"
	NodeNotFound    Reason = "NODE_NOT_FOUND"
	TokenNotFound   Reason = "TOKEN_NOT_FOUND"

	ApprovalNotFound Reason = "APPROVAL_NOT_FOUND"
	SkillNotFound    Reason = "SKILL_NOT_FOUND"

	TaskNotFound         Reason = "TASK_NOT_FOUND"
	NotificationNotFound Reason = "NOTIFICATION_NOT_FOUND"
)

// Skills (docs/skills.md):
const (
	SkillExists      Reason = "SKILL_EXISTS"
	SkillBundled     Reason = "SKILL_BUNDLED"
	SkillChanged     Reason = "SKILL_CHANGED"
	SkillInvalid     Reason = "SKILL_INVALID"
	SkillTooLarge    Reason = "SKILL_TOO_LARGE"
	SkillUnavailable Reason = "SKILL_UNAVAILABLE"
)

// Memories (docs/memory.md):
const (
	MemoryNotFound    Reason = "MEMORY_NOT_FOUND"
	MemoryExists      Reason = "MEMORY_EXISTS"
	MemoryInvalid     Reason = "MEMORY_INVALID"
	MemoryUnconfirmed Reason = "MEMORY_UNCONFIRMED"
)

// The state of what the request names does not allow it:
const (
	RunActive       Reason = "RUN_ACTIVE"
	Interrupted     Reason = "INTERRUPTED"
	NotInterrupted  Reason = "NOT_INTERRUPTED"
	AlreadyDecided  Reason = "ALREADY_DECIDED"
	ApprovalExpired Reason = "APPROVAL_EXPIRED"
	NameTaken       Reason = "NAME_TAKEN"
	LimitReached    Reason = "LIMIT_REACHED"
	TaskState       Reason = "TASK_STATE"
)

// The user has reached a limit:
const (
	RunsLimited Reason = "RUNS_LIMITED"
	StorageFull Reason = "STORAGE_FULL"
)

// Decisions that do not fit what was asked; the session goes on waiting (docs/agent-runs.md#approvals):
const (
	UnknownCall     Reason = "UNKNOWN_CALL"
	MissingDecision Reason = "MISSING_DECISION"
	InvalidDecision Reason = "INVALID_DECISION"
	DigestDiffers   Reason = "DIGEST_DIFFERS"
)

// The request is fine, but the server cannot serve it:
const (
	AgentUnavailable Reason = "AGENT_UNAVAILABLE"
	Internal         Reason = "INTERNAL"
)

// Why a request about knowledge bases was refused.
const (
	KnowledgeBaseNotFound Reason = "KNOWLEDGE_BASE_NOT_FOUND"
	DocumentNotFound      Reason = "DOCUMENT_NOT_FOUND"
	DocumentBusy          Reason = "DOCUMENT_BUSY"         // it is processed now, or was
	FileTypeRefused       Reason = "FILE_TYPE_REFUSED"     // nothing here reads such files
	KnowledgeUnavailable  Reason = "KNOWLEDGE_UNAVAILABLE" // the service or its database is away
)
