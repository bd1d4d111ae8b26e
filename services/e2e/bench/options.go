package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// options say how much to measure.
type options struct {
	Points []point
	// Rounds is how often the ways take turns, Segment how long each goes on, Warmup how long before the first round.
	Rounds          int
	Segment, Warmup time.Duration
	// MaxCalls bounds the calls of one segment, and with them the samples that are kept.
	MaxCalls int

	// IdleNodes connect to one pod and are quiet for Settle before its memory is looked at; 0 leaves that part out.
	IdleNodes int
	Settle    time.Duration

	Scale scaleOptions

	Agents agentOptions

	Flood floodOptions

	MCP mcpOptions

	// JSON is the file for the figures; "" for none.
	JSON string
	// Profiles is a directory for profiles of the pods, taken for ProfileFor after the rounds of each point; "" for none.
	Profiles   string
	ProfileFor time.Duration

	// Level is the least level at which the processes log.
	Level slog.Level
}

// agentOptions say how much of agents to measure; without Rounds nothing is.
type agentOptions struct {
	// Rounds is how often the ways take turns, Segment how long each repeats its run.
	Rounds  int
	Segment time.Duration
	// FirstTokens is how many requests each way gets in a round.
	FirstTokens int
	// Streams of so many Words run at once, the model at StreamPace, in so many rounds. While their memory is looked at the
	// model takes StreamSlow for a word.
	Streams, Words, StreamRounds int
	StreamPace, StreamSlow       time.Duration
	// Waiting runs wait for a person.
	Waiting int
	// Only is the one part to measure; "" for all.
	Only string
}

// floodOptions say how long to look at who is beside a flood; without Rounds nothing is.
type floodOptions struct {
	// Rounds is how often the quiet user is alone and beside the flood, each for Segment.
	Rounds  int
	Segment time.Duration
	// Offered is how many calls a second the flood makes, or tries to.
	Offered int
}

// partMCPStreams is the memory of MCP clients' streams, and nothing else of them.
const partMCPStreams = "mcp streams"

// partScale is the part that is measured only where it is asked for, or tasted.
const partScale = "scale"

const (
	smallResult = 200
	largeResult = 200 << 10
)

func everything() options {
	return options{
		Points: allPoints(),
		Rounds: 7, Segment: 700 * time.Millisecond, Warmup: 400 * time.Millisecond, MaxCalls: 1 << 20,
		IdleNodes: 10_000, Settle: 20 * time.Second, ProfileFor: 5 * time.Second,
		Scale: scaleOptions{
			Nodes: 20_000, Gateways: 2, shape: shape{1, 1}, Beat: 30 * time.Second, Rate: 200, Visitors: 12,
			Idle: time.Minute, Calls: time.Minute, Visits: 30 * time.Second, Loss: time.Minute, // a minute is a multiple of all periods there are
		},
		Agents: agentOptions{
			Rounds: 7, Segment: 700 * time.Millisecond, FirstTokens: 60,
			Streams: 1000, Words: 100, StreamRounds: 3, StreamPace: 50 * time.Millisecond, StreamSlow: 3 * time.Second,
			Waiting: 2000,
		},
		Flood: floodOptions{Rounds: 9, Segment: 2 * time.Second, Offered: 2000},
		MCP:   mcpOptions{Lists: 3 * time.Second, Streams: 10_000, Settle: 5 * time.Second, Changes: 30 * time.Second},
	}
}

// taste is enough to see that everything works.
func taste() options {
	return options{
		Points: tastePoints(),
		Rounds: 2, Segment: 300 * time.Millisecond, Warmup: 200 * time.Millisecond, MaxCalls: 1 << 20,
		IdleNodes: 500, Settle: time.Second, ProfileFor: time.Second,
		Scale: scaleOptions{
			Nodes: 400, Gateways: 2, shape: shape{1, 1}, Beat: 2 * time.Second, Rate: 100, Visitors: 4,
			Idle: 2 * time.Second, Calls: 2 * time.Second, Visits: time.Second, Loss: 5 * time.Second,
		},
		Agents: agentOptions{
			Rounds: 2, Segment: 150 * time.Millisecond, FirstTokens: 10,
			Streams: 100, Words: 20, StreamRounds: 1, StreamPace: 20 * time.Millisecond, StreamSlow: 300 * time.Millisecond,
			Waiting: 100,
		},
		Flood: floodOptions{Rounds: 2, Segment: 300 * time.Millisecond, Offered: 1000},
		MCP:   mcpOptions{Lists: 300 * time.Millisecond, Streams: 500, Settle: 500 * time.Millisecond, Changes: 2 * time.Second},
	}
}

func parse(args []string, help io.Writer) (options, error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(help)
	smoke := flags.Bool("smoke", false, "a taste in less than a minute, with figures that prove nothing")
	rounds := flags.Int("rounds", 0, "how often the ways take turns (default 7, with -smoke 2)")
	nodes := flags.Int("nodes", 0, "how many nodes stand at the gateways of scale (default 20000, with -smoke 400)")
	gateways := flags.Int("gateways", 2, "how many gateways scale has; with more than two it ends with the death of one")
	registries := flags.Int("registries", 1, "how many registries scale has")
	shards := flags.Int("shards", 1, "how many masters the Redis Cluster of scale has; 1 is one Redis")
	hold := flags.Duration("hold", 0, "how long scale makes calls, and at most how long each of its other parts lasts (default a minute)")
	rate := flags.Float64("rate", 0, "how many calls a second scale makes (default 200)")
	only := flags.String("only", "", `measure one group of columns, such as "unary", or one column, such as "unary, 200 B, c=64", and nothing else; or "calls", which is all of these; or "mcp", which is that group and all else of MCP clients, or "mcp streams"; or "idle"; or "flood"; or "scale"; or "agent", or one part of that, such as "agent streams"`)
	out := flags.String("json", "", "`file` for all figures")
	profiles := flags.String("profile", "", "`directory` for CPU and heap profiles of the pods")
	level := slog.LevelError // with ten thousand connections a warning seldom comes alone
	flags.TextVar(&level, "log-level", level, "the least `level` at which the processes log")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("argument %q is not expected", flags.Arg(0))
	}
	o := everything()
	switch {
	case *smoke:
		o = taste()
	case *only != partScale:
		o.Scale = scaleOptions{} // as long as half of all the rest, and best without what that left behind
	}
	if *rounds > 0 {
		o.Rounds, o.Agents.Rounds, o.Flood.Rounds = *rounds, *rounds, *rounds
	}
	if *gateways < 2 || *registries < 1 || *shards < 1 || *shards == 2 {
		return options{}, errors.New("scale needs at least 2 -gateways, 1 of -registries, and of -shards 1, or 3 and more")
	}
	o.Scale.set(*nodes, *gateways, shape{*registries, *shards}, *hold, *rate)
	o.JSON, o.Profiles, o.Level = *out, *profiles, level
	return o, o.keep(*only)
}

// shape is that of the cluster.
func (o options) shape() shape {
	if o.Scale.Nodes == 0 {
		return shape{1, 1}
	}
	return o.Scale.shape
}

// set takes what was asked for in place of what is usual; zero is not asked for.
func (o *scaleOptions) set(nodes, gateways int, s shape, hold time.Duration, rate float64) {
	if o.Nodes == 0 {
		return
	}
	o.Nodes = cmp.Or(nodes, o.Nodes) / gateways * gateways
	o.Gateways, o.shape = gateways, s
	o.Calls, o.Rate = cmp.Or(hold, o.Calls), cmp.Or(rate, o.Rate)
	o.Idle, o.Visits, o.Loss = min(o.Idle, o.Calls), min(o.Visits, o.Calls), min(o.Loss, o.Calls)
}

// keep leaves out all but one part.
func (o *options) keep(only string) error {
	flood, mcp := o.Flood, o.MCP
	if only != "" {
		o.Flood, o.MCP = floodOptions{}, mcpOptions{}
	}
	switch only {
	case "":
		return nil
	case partMCPStreams:
		o.Points, o.IdleNodes, o.Scale, o.Agents = nil, 0, scaleOptions{}, agentOptions{}
		o.MCP = mcpOptions{Streams: mcp.Streams, Settle: mcp.Settle}
		return nil
	case "flood":
		*o = options{Flood: flood, JSON: o.JSON, Level: o.Level}
		return nil
	case "idle":
		o.Points, o.Scale, o.Agents = nil, scaleOptions{}, agentOptions{}
		return nil
	case partScale:
		o.Points, o.IdleNodes, o.Agents = nil, 0, agentOptions{}
		return nil
	case "agent":
		o.Points, o.IdleNodes, o.Scale = nil, 0, scaleOptions{}
		return nil
	}
	if part, ok := strings.CutPrefix(only, "agent "); ok && slices.Contains(agentParts, part) {
		o.Points, o.IdleNodes, o.Scale, o.Agents.Only = nil, 0, scaleOptions{}, part
		return nil
	}
	o.IdleNodes, o.Scale, o.Agents = 0, scaleOptions{}, agentOptions{}
	if only == "calls" {
		return nil
	}
	if only == groupMCP {
		o.MCP = mcp
	}
	all := o.Points
	o.Points = slices.DeleteFunc(slices.Clone(all), func(p point) bool { return p.Group != only && p.name() != only })
	if len(o.Points) > 0 {
		return nil
	}
	var names []string
	for _, p := range all {
		names = append(names, p.name())
	}
	return fmt.Errorf("no column %q; there are %q, their groups, calls, idle, flood, scale, agent, and of agent %q", only, names, agentParts)
}
