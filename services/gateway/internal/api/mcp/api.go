package mcp

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/agents"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/changes"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/relay"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/session"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/tasks"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wishes"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/rest"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/pictures"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/drain"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
)

// Path is where MCP clients come in.
const Path = auth.ResourcePath

// Config is what an API is made of. All but Limits are required.
type Config struct {
	Auth   *auth.Authenticator
	Limits *limits.Limiter // nil for none
	// Sources have the tools.
	Sources []catalogue.Source
	// Files are those of users' workspaces; nil for none.
	Files Files
	// Nodes has the devices, and Pictures their last screenshots.
	Nodes    Nodes
	Pictures *pictures.Keeper
	// Wishes are what sessions have subscribed to.
	Wishes *wishes.Book
	// Prompts has the prompts of users' saved MCP servers; nil for none.
	Prompts *agents.Prompts
	// Services tells of changes of users' saved services; nil where there are none.
	Services *changes.Services
	// Box seals sessions, under a key that all pods share.
	Box *seal.Box
	// Relay brings messages of a session to the pod where it has a call open.
	Relay *relay.Relay
	// Changes tells of changes of users' tools.
	Changes *changes.Feed
	// Streams are the event streams that a drain ends.
	Streams *drain.Streams
	// Tasks has the calls that come back for the answer; nil for none.
	Tasks *tasks.Book
	// TaskAfter is how long a call takes before it becomes a task.
	TaskAfter time.Duration
	// Tracing makes the spans of requests; nil for none.
	Tracing *obs.Tracing
	// MaxBody bounds a request, in bytes.
	MaxBody int64
	// Heartbeat is how often a stream that is silent says that it lives: many proxies and clients give one up after 60 s, some
	// after 20.
	Heartbeat time.Duration
	// Ended is told of every request that has been answered, but for streams; nil for nobody.
	Ended func(Operation)
	// Version is that of this build.
	Version string
	Logger  *slog.Logger
}

// API serves /mcp. It is safe for concurrent use.
type API struct {
	// Static after construction.
	Config
	catalogue *catalogue.Catalogue
	sealer    session.Sealer
	methods   map[string]method
	server    []byte // serverInfo
}

// New returns an API.
func New(cfg Config) *API {
	a := &API{Config: cfg, sealer: session.Sealer{Box: cfg.Box}, server: serverInfo(cfg.Version)}
	a.catalogue = &catalogue.Catalogue{Sources: cfg.Sources, Finders: a.finders}
	a.methods = a.core()
	maps.Copy(a.methods, a.resources())
	maps.Copy(a.methods, a.prompting())
	maps.Copy(a.methods, a.taskMethods())
	return a
}

// Routes adds the endpoint.
func (a *API) Routes(mux *http.ServeMux) {
	guard := edge.Guard{
		Auth: a.Auth, Limits: a.Limits, Describe: func(err error) edge.Problem { return edge.NewProblem(err, rest.Available) },
	}
	mux.Handle("POST "+Path, guard.Identified(auth.Anything, a.MaxBody, a.post))
	mux.Handle("GET "+Path, guard.Identified(auth.ReadTools, edge.NoBody, a.get))
	mux.Handle(Path, guard.Identified(auth.Anything, edge.NoBody, a.other))
}

// principal is who asks: the one place where what a token allows comes in.
func (a *API) principal(id auth.Identity) catalogue.Principal {
	return catalogue.Principal{User: id.User, Grant: id.Grant, Ends: id.Ends()}
}

// request is who asks, and for which tools.
func (a *API) request(r *http.Request, id auth.Identity) (catalogue.Request, *wire.Error) {
	filter, err := catalogue.ReadFilter(r.URL.Query())
	if err != nil {
		return catalogue.Request{}, wire.BadParams("Invalid params: " + err.Error() + ", in the URL")
	}
	return catalogue.Request{Principal: a.principal(id), Filter: filter}, nil
}

// other answers methods of HTTP that are not there: a session ends when its client forgets it.
func (a *API) other(w http.ResponseWriter, r *http.Request, _ auth.Identity) error {
	notAllowed(w)
	return nil
}

func notAllowed(w http.ResponseWriter) {
	w.Header().Set("Allow", "GET, POST")
	edge.Problem{
		Type: "about:blank", Title: http.StatusText(http.StatusMethodNotAllowed), Status: http.StatusMethodNotAllowed,
		Error: "the method is not allowed here",
	}.Write(w)
}

// refuse answers a request of HTTP with a JSON-RPC error.
func refuse(w http.ResponseWriter, status int, e *wire.Error, id []byte) {
	writeJSON(w, status, e.Append(nil, id))
}

// gone is the answer to a session that is unknown: it makes clients initialize again.
func gone(w http.ResponseWriter, id []byte) {
	refuse(w, http.StatusNotFound, &wire.Error{Code: codeSession, Message: "Session not found: initialize again"}, id)
}

// codeSession is a code of our own, outside JSON-RPC's range.
const codeSession = -31404

// background is a context for what a client began and goes on without it: in the older revisions a lost stream is no cancel. It ends
// where the client's token is revoked.
func background(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	stop := context.AfterFunc(r.Context(), func() {
		if errors.Is(context.Cause(r.Context()), auth.ErrRevoked) {
			cancel()
		}
	})
	return ctx, func() {
		stop()
		cancel()
	}
}
