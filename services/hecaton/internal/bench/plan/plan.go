package plan

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Spec is what a plan is made of.
type Spec struct {
	Seed         uint64
	Users, Nodes int
	// Payload and Answer are the sizes of a call's data and of its result's.
	Payload, Answer Sizes
	// Think is how long a node works on a call.
	Think Span
	// Churn is how many nodes leave and come back each second.
	Churn float64
}

// Plan is a load. It is safe for concurrent use.
type Plan struct {
	Spec
	nodes []Node
	block []byte
}

// Node is one simulated node.
type Node struct{ User, ID string }

// Call is what one call consists of.
type Call struct {
	// Node is the index of the node that is called.
	Node int
	// Payload and Answer are sizes in bytes, Think is how long the node works on it.
	Payload, Answer int
	Think           time.Duration
}

// Run is what one run of an agent consists of.
type Run struct {
	Node int
	// Steps are tool calls, one after the other; at most [MaxSteps].
	Steps []Call
	// Approve says that each step waits until somebody approves it.
	Approve bool
}

const (
	// MaxSteps is how many tool calls a run has at most.
	MaxSteps = 3
	// approveEvery is how many runs there are for each that needs approvals.
	approveEvery = 4
	// stepData bounds a step's data: a model has to repeat it.
	stepData = 64
)

// The streams of numbers that are drawn from one seed.
const (
	streamBlock uint64 = iota
	streamCall
	streamRun
	streamChurn
	streamSlow
)

// blockSize is how much data there is to cut payloads from.
const blockSize = 1 << 18

// New makes a plan. Users and Nodes must be positive.
func New(s Spec) *Plan {
	p := &Plan{Spec: s, block: make([]byte, blockSize)}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	rng := p.rng(streamBlock, 0)
	for i := range p.block {
		p.block[i] = letters[rng.Uint32()%uint32(len(letters))]
	}
	for i := range s.Nodes {
		p.nodes = append(p.nodes, Node{p.User(p.Owner(i)), fmt.Sprintf("node-%d", i/s.Users)})
	}
	return p
}

// rng is a source of numbers for the nth thing of a stream.
func (p *Plan) rng(stream uint64, n int64) *rand.Rand {
	return rand.New(rand.NewPCG(p.Seed, stream<<56^uint64(n)))
}

// User returns the id of the ith user; those of another seed are others.
func (p *Plan) User(i int) string { return fmt.Sprintf("bench-%x-%d", p.Seed, i) }

// Node returns the ith node. The nodes of a user are Users apart.
func (p *Plan) Node(i int) Node { return p.nodes[i] }

// Owner returns the index of the user whose node the ith one is.
func (p *Plan) Owner(i int) int { return i % p.Users }

// Call returns what the nth call consists of.
func (p *Plan) Call(n int64) Call {
	rng := p.rng(streamCall, n)
	return Call{
		Node: rng.IntN(len(p.nodes)), Payload: p.Payload.draw(rng), Answer: p.Answer.draw(rng), Think: p.Think.draw(rng),
	}
}

// Run returns what the nth run consists of.
func (p *Plan) Run(n int64) Run {
	rng := p.rng(streamRun, n)
	r := Run{Node: rng.IntN(len(p.nodes)), Approve: n%approveEvery == 0}
	for range 1 + rng.IntN(MaxSteps) {
		r.Steps = append(r.Steps, Call{Node: r.Node, Payload: rng.IntN(stepData), Answer: rng.IntN(stepData), Think: p.Think.draw(rng)})
	}
	return r
}

// Leaving returns when the nth node leaves, counted from the beginning of the load, which one it is, and how long it is
// away. Churn must be positive.
func (p *Plan) Leaving(n int64) (at time.Duration, node int, away time.Duration) {
	rng := p.rng(streamChurn, n)
	interval := float64(time.Second) / p.Churn
	return time.Duration((float64(n) + rng.Float64()) * interval), rng.IntN(len(p.nodes)), time.Duration(rng.Int64N(int64(time.Second)))
}

// Slow returns the index of the user of the ith web client that does not read.
func (p *Plan) Slow(i int) int { return p.rng(streamSlow, int64(i)).IntN(min(p.Users, p.Nodes)) }

// Data returns size bytes of letters and digits that depend on n only, so that the receiver can check what arrives.
func (p *Plan) Data(n int64, size int) []byte {
	out := make([]byte, 0, size)
	for at := int(uint64(n) * 7919 % blockSize); len(out) < size; at = 0 {
		out = append(out, p.block[at:min(blockSize, at+size-len(out))]...)
	}
	return out
}
