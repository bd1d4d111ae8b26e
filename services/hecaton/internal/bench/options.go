package bench

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"time"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/faults"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/plan"
)

// Options of a bench.
type Options struct {
	// Servers are base URLs of gateways or of a load balancer.
	Servers []string
	// Embedded says that they are those of a cluster in this process, for the report.
	Embedded bool
	// GRPC are the gRPC addresses of gateways for the callers; without any, callers use REST at Servers. Dial are the
	// options of the connections, credentials included.
	GRPC []string
	Dial []grpc.DialOption
	// Both says that every other call uses REST, although GRPC is set.
	Both bool
	// Token returns the bearer token of a user; "" in trusted mode.
	Token func(user string) (string, error)

	// Plan is what is done; Users 0 means one for every five nodes.
	Plan    plan.Spec
	Callers int
	// Rate is how many calls begin each second; 0 for a closed loop.
	Rate float64
	// Duration is how long the load lasts; with faults, as long as they take, and at least this long.
	Duration time.Duration
	// Calm is the time before the first fault.
	Calm   time.Duration
	Faults []faults.Fault
	// Timeout of one attempt of a call, Patience with attempts that are not delivered.
	Timeout, Patience time.Duration
	// Slow is how many web clients do not read, Runs how many runs of agents go on at once.
	Slow, Runs int
	// Connect is how long the nodes may take to connect.
	Connect time.Duration

	// Progress is where the progress is shown: a bar on a terminal, else a line from time to time; nil shows none.
	Progress io.Writer
	Terminal bool
	Logger   *slog.Logger
}

// maxNodesPerUser is how many nodes one user may have (docs/protocols/zeus-connections.md#limits).
const maxNodesPerUser = 10

// nodesPerUser is how many a user has where nobody says.
const nodesPerUser = 5

func (o Options) withDefaults() (Options, error) {
	if o.Plan.Users == 0 {
		o.Plan.Users = (o.Plan.Nodes + nodesPerUser - 1) / nodesPerUser
	}
	var problems []error
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	for _, s := range o.Servers {
		u, err := url.Parse(s)
		wrong(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https", "server %q must be a URL such as http://127.0.0.1:8080", s)
	}
	wrong(o.Both && len(o.GRPC) == 0, "calls by both ways need gateways' gRPC addresses")
	wrong(len(o.Servers) == 0, "no server is named")
	wrong(o.Plan.Nodes < 1, "there must be a node at least")
	wrong(o.Plan.Users < 0, "the number of users must not be negative")
	wrong(o.Plan.Users > o.Plan.Nodes, "there are %d users and %d nodes: a user without a node has nothing to call", o.Plan.Users, o.Plan.Nodes)
	wrong(o.Plan.Nodes > maxNodesPerUser*o.Plan.Users && o.Plan.Users > 0, "%d nodes need at least %d users: a user may have %d nodes",
		o.Plan.Nodes, (o.Plan.Nodes+maxNodesPerUser-1)/maxNodesPerUser, maxNodesPerUser)
	wrong(o.Callers < 0 || o.Runs < 0 || o.Slow < 0, "callers, runs and slow must not be negative")
	wrong(o.Rate < 0 || o.Plan.Churn < 0, "rate and churn must not be negative")
	wrong(o.Rate > 0 && o.Callers == 0, "a rate needs callers")
	wrong(o.Duration <= 0, "the duration must be positive")
	wrong(o.Timeout <= 0 || o.Patience < 0 || o.Calm < 0 || o.Connect <= 0, "timeout and connect must be positive, patience and calm not negative")
	return o, errors.Join(problems...)
}
