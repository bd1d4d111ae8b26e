package report

import (
	"encoding/json"
	"time"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/runs"
)

// Report is all that a bench found out.
type Report struct {
	// Passed says that the ledgers agree, that lossless faults lost nothing, and that nothing else went wrong; if not,
	// Problems has the reasons.
	Passed   bool     `json:"passed"`
	Problems []string `json:"problems"`

	Seed  uint64    `json:"seed"`
	Began time.Time `json:"began"`
	Took  Seconds   `json:"took_seconds"`
	// Stopped says what ended it early; "" where nothing did.
	Stopped string `json:"stopped,omitempty"`
	Load    Load   `json:"load"`

	Calls  Calls          `json:"calls"`
	Ledger ledger.Balance `json:"ledger"`
	Nodes  Nodes          `json:"nodes"`
	// Runs and Steps are nil where there were none; so is Slow.
	Runs  *Runs           `json:"runs,omitempty"`
	Steps *ledger.Balance `json:"steps,omitempty"`
	Slow  *Slow           `json:"slow_readers,omitempty"`
	// Calm is the time outside of faults, Faults their times.
	Calm     *Fault   `json:"calm,omitempty"`
	Faults   []Fault  `json:"faults,omitempty"`
	Timeline []Second `json:"timeline"`
}

// Seconds is a duration; in JSON a number of seconds.
type Seconds time.Duration

// MarshalJSON writes microseconds as decimals.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(s).Round(time.Microsecond).Seconds())
}

// Load is what was asked for.
type Load struct {
	Servers  []string `json:"servers"`
	GRPC     []string `json:"grpc,omitempty"`
	Both     bool     `json:"both,omitempty"`
	Embedded bool     `json:"embedded"`
	Users    int      `json:"users"`
	Nodes    int      `json:"nodes"`
	Callers  int      `json:"callers"`
	// Rate is calls a second; 0 is a closed loop.
	Rate    float64 `json:"rate"`
	Payload string  `json:"payload"`
	Answer  string  `json:"answer"`
	Think   string  `json:"think"`
	Churn   float64 `json:"churn"`
	Slow    int     `json:"slow"`
	Runs    int     `json:"runs"`
}

// Calls are calls by how they ended for their callers.
type Calls struct {
	Ended        int `json:"ended"`
	Answered     int `json:"answered"`
	NotDelivered int `json:"not_delivered"`
	Unknown      int `json:"unknown"`
	// Retried were answered after attempts that were not delivered.
	Retried int `json:"retried"`
	// PerSecond is how many were answered each second.
	PerSecond float64 `json:"answered_per_second"`
	// Refusals are attempts that were not delivered, GivenUp calls whose last one was, Unknowns calls whose outcome is
	// unknown: by reason.
	Refusals map[string]int `json:"refused_attempts"`
	GivenUp  map[string]int `json:"given_up"`
	Unknowns map[string]int `json:"unknowns"`
	// Latency by outcome: answered, not_delivered, unknown; without those that did not occur.
	Latency map[string]Latency `json:"latency"`
}

// Latency is how long calls took.
type Latency struct {
	Count uint64  `json:"count"`
	Mean  Seconds `json:"mean_seconds"`
	P50   Seconds `json:"p50_seconds"`
	P90   Seconds `json:"p90_seconds"`
	P99   Seconds `json:"p99_seconds"`
	P999  Seconds `json:"p999_seconds"`
	Max   Seconds `json:"max_seconds"`
}

// Nodes are the connections of the simulated nodes.
type Nodes struct {
	Count    int `json:"count"`
	Up       int `json:"connected"`
	FewestUp int `json:"fewest_connected"`
	Left     int `json:"left"`
	// Lost are connections that ended although the node did not want it, Failed are failed attempts to connect; both by
	// cause.
	Lost     map[string]int `json:"lost"`
	SentAway int            `json:"sent_away"`
	Failed   map[string]int `json:"failed_attempts"`
	// Reconnected counts them, PeakPerSecond is the most of one second.
	Reconnected   int `json:"reconnected"`
	PeakPerSecond int `json:"reconnects_peak_per_second"`
	// Connecting is how long the first connections took, Away how long it was until nodes were back.
	Connecting Latency `json:"connecting"`
	Away       Latency `json:"away"`
}

// Runs are runs of agents.
type Runs struct {
	Ended int `json:"ended"`
	// Finishes are by finish_reason, Steps are tool calls by outcome.
	Finishes map[string]int `json:"finishes"`
	Steps    map[string]int `json:"steps"`
	// Repeated counts requests that had to be sent again, Resumed streams that broke and were picked up.
	Repeated int     `json:"repeated_requests"`
	Resumed  int     `json:"resumed_streams"`
	Took     Latency `json:"took"`
	// Broken is how many promises were broken, Problems the first of them; Remarks are runs that stopped early without a
	// failed call.
	Broken   int            `json:"broken"`
	Problems []runs.Problem `json:"problems,omitempty"`
	Remarks  []runs.Problem `json:"remarks,omitempty"`
}

// Slow are web clients that do not read.
type Slow struct {
	Clients int `json:"clients"`
	// Cut is how many connections the server ended, Took how long after the client had stopped reading.
	Cut  int     `json:"cut"`
	Took Latency `json:"took"`
	// Kept is how many were still served at the end.
	Kept int `json:"kept"`
}

// Fault is one fault, or the time outside of all of them.
type Fault struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Lossless says that every call must be answered, LosslessRuns also every tool call of a run.
	Lossless     bool `json:"lossless"`
	LosslessRuns bool `json:"lossless_runs,omitempty"`
	// Recover is what Trouble may be at most; 0 where nobody says.
	Recover Seconds `json:"recover_seconds,omitempty"`
	// From and To count from the beginning of the load.
	From  Seconds `json:"from_seconds"`
	To    Seconds `json:"to_seconds"`
	Marks []Mark  `json:"steps"`
	Calls Calls   `json:"calls"`
	// Twice is how many calls were executed more than once, StepsTwice how many of the runs' tool calls.
	Twice      int `json:"executed_twice"`
	StepsTwice int `json:"run_steps_executed_twice"`
	// Trouble is the time from the beginning of the fault to the end of the last call that was refused at first, not
	// answered, or slower than a second; 0 where there was none.
	Trouble Seconds `json:"answered_again_after_seconds"`
	Runs    *Runs   `json:"runs,omitempty"`
}

// Mark is a step of a fault.
type Mark struct {
	Name string  `json:"name"`
	At   Seconds `json:"at_seconds"`
}

// Second is one second of the load.
type Second struct {
	Begun       int     `json:"begun"`
	Answered    int     `json:"answered"`
	Refused     int     `json:"refused"`
	Unknown     int     `json:"unknown"`
	Reconnected int     `json:"reconnected"`
	P50         Seconds `json:"p50_seconds"`
	P99         Seconds `json:"p99_seconds"`
	Max         Seconds `json:"max_seconds"`
}

// JSON is the report for programs.
func (r *Report) JSON() ([]byte, error) {
	raw, err := json.MarshalIndent(r, "", "  ")
	return append(raw, '\n'), err
}
