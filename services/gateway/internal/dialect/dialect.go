package dialect

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/fanout"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/holder"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// Dialect declares one client protocol.
type Dialect struct {
	// Name is for logs.
	Name string
	// Kinds are the protocol's clients.
	Kinds []*Kind
	// New returns the part of the dialect that works in one pod. A Protocol that also has Routes(*http.ServeMux) serves plain
	// HTTP requests beside its sockets.
	New func(Env) Protocol
}

// Env is what a dialect may use of its pod.
type Env struct {
	Auth   *auth.Authenticator
	Limits *limits.Limiter // nil for none
	Router *router.Router
	Fanout *fanout.Fanout
	Logger *slog.Logger
}

// Kind is one kind of client: a route, and what its connections may do. It is not changed once it is declared.
type Kind struct {
	// Name is the label of metrics, unlike that of any other kind.
	Name string
	// Path of the upgrade request, such as /ws/web.
	Path string
	// Type is what the kind's nodes are; UNSPECIFIED for clients that are no nodes, of which a user may have a limited number
	// (nodes have a limit of their own, in the registry).
	Type nodev1.NodeType
	// MaxFrame is the largest frame that a client may send, in bytes; 0 means the pod's limit, which is never exceeded.
	MaxFrame int64
	// Binary says that frames are binary messages. Otherwise they are text. Messages of the other type are counted and
	// dropped.
	Binary bool

	// Identify reads who connects from the request of the upgrade; nil where the first frame has to say it. The server checks
	// the user's token.
	Identify func(r *http.Request) (Identity, *Refusal)
	// Greet reads who connects from the first frame, where Identify named no user; nil where the request has to name one.
	Greet func(first []byte) (Identity, *Refusal)
}

// need is what the token of a client has to allow: nodes hear and answer all their calls, others hear and start what any of the
// user's nodes does.
func (k *Kind) need() auth.Need {
	if k.Type != nodev1.NodeType_NODE_TYPE_UNSPECIFIED {
		return auth.Everything
	}
	return auth.UseTools
}

// Identity is who a client says that it is.
type Identity struct {
	// User is empty where the first frame will tell.
	User ids.UserID
	// Node is the id of a client that is a node.
	Node ids.NodeID
	// Token is the one in the first frame; empty where it has none, and the one in the upgrade's request counts.
	Token string
}

// alone returns the identity without the text that its ids were cut out of, which would live as long as the connection.
func (i Identity) alone() Identity {
	i.User, i.Node = ids.UserID(strings.Clone(string(i.User))), ids.NodeID(strings.Clone(string(i.Node)))
	return i
}

// Refusal is why a connection may not stay.
type Refusal = holder.RefusedError

// Protocol is a dialect at work in one pod.
type Protocol interface {
	// Session returns the session of a client whose user was authenticated.
	Session(*Client) Session
}

// Session is a dialect's side of one connection. The session of a node is its codec, too. Its methods run on the connection's
// reader, except those of [codec.Codec] that say otherwise.
type Session interface {
	codec.Reader
	// Begin makes the client a node with [Client.Hold], has it follow topics with [Client.Follow], or both, before any other
	// frame is read. After an error, which may be a *[Refusal], the connection is closed.
	Begin() error
	// Take handles a frame that Read called [codec.Other], takes over its reference, and reports whether it was an answer that
	// somebody waited for.
	Take(m codec.Message, b *frame.Buffer) (asked bool)
}
