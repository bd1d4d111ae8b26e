package paper

// What is assumed of a deployment, beside what was measured.
const (
	// podNodes is how many connections a gateway has.
	podNodes = 20_000
	// full is the share of a processor that a process may use for its work at normal times.
	full = 0.5
	// subscriptions of a node: call, control.
	subscriptions = 2
	// callsPerNode is calls per second and node: one every 100 seconds, as in the measurement.
	callsPerNode = 0.01
	// session is how long a node stays connected, in seconds: two hours.
	session = 7200
	// events of one stay: online, updated when it registers, offline.
	events = 3
	// sweep is the time in seconds after which a user's leases are looked at again.
	sweep = 60
	// drainRate is how many connections a second a gateway that drains closes by default (DRAIN_RATE), and turn the time in
	// seconds that its restart takes: those 20 s, the delay before and some for the start.
	drainRate = 1000
	turn      = 30
	// together is how many of the gateways restart at once where that is not one: a twentieth. bearable is how many reconnects
	// a second that may make.
	together = 20
	bearable = 10_000
	// runsPerNode is agent runs per second and node: one in an hour; commitsPerRun of six steps, see docs/performance.md.
	runsPerNode   = 1. / 3600
	commitsPerRun = 3 + 6*2.5
)

// sizes of clusters, in nodes, and how many NATS servers each has.
var sizes = []struct {
	name    string
	nodes   float64
	servers float64
}{
	{"100,000 nodes", 1e5, 3},
	{"1 M nodes", 1e6, 3},
	{"10 M nodes", 1e7, 9},
}
