package main

import (
	"fmt"
	"slices"

	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
)

// The ways of a call that are compared. The relay's are what ours are measured by.
const (
	wayRelay       = "bare relay"         // unary
	wayRelayStream = "bare relay, stream" // many calls on one stream
	wayAcross      = "across pods"        // on a stream of Calls
	wayLocal       = "caller's pod"       // the same, where the pod that is called holds the node
	wayUnary       = "CallTool"
	wayUnnamed     = "CallTool, no node named"
	wayREST        = "REST"
	wayRESTUnnamed = "REST, no node named"
	wayMCP         = "/mcp"
	waySDK         = "SDK's server, empty tool" // in process: nothing is called
)

// The groups of columns, each a table of its own.
const (
	groupStreams = "streams" // many calls on one stream
	groupUnary   = "unary"   // a gRPC call for each
	groupREST    = "REST"
	groupUnnamed = "unnamed" // the node is left to the cluster
	groupMCP     = "mcp"     // a client of MCP, beside our other ways
	groupSpread  = "spread"  // the same load on few nodes and on many
	groupNodes   = "nodes"   // so many nodes are connected, and called in turn
	groupPods    = "pods"    // the same load on so many entry pods
)

// group is columns in which the same ways are compared.
type group struct {
	name string
	ways []string
	// grows is what the columns have more of; "" where that is not the question.
	grows string
	// together measures all columns in the same rounds.
	together bool
}

var groups = []group{
	{name: groupStreams, ways: []string{wayRelayStream, wayRelay, wayAcross, wayLocal}},
	{name: groupUnary, ways: []string{wayRelay, wayUnary}},
	{name: groupREST, ways: []string{wayRelay, wayREST}},
	{name: groupUnnamed, ways: []string{wayRelay, wayUnnamed, wayRESTUnnamed}},
	{name: groupMCP, ways: []string{wayREST, wayMCP, wayUnary, waySDK}},
	{name: groupSpread, ways: []string{wayRelay, wayUnary, wayRelayStream, wayAcross}},
	{name: groupNodes, ways: []string{wayRelay, wayUnary, wayAcross}, grows: "nodes"},
	{name: groupPods, ways: []string{wayRelay, wayUnary, wayAcross}, grows: "pods", together: true},
}

// groupOf returns the group of a name; there must be one.
func groupOf(name string) group {
	return groups[slices.IndexFunc(groups, func(g group) bool { return g.name == name })]
}

// bases are the ways that one of ours is compared with in a group, that of its own kind first; none for what others are compared with.
func (g group) bases(way string) (bases []string) {
	switch way {
	case wayRelay, wayRelayStream:
		return nil
	case wayMCP:
		bases = []string{wayREST, wayUnary, waySDK}
	case wayAcross, wayLocal:
		bases = []string{wayRelayStream, wayRelay}
	default:
		bases = []string{wayRelay}
	}
	return slices.DeleteFunc(bases, func(base string) bool { return !slices.Contains(g.ways, base) })
}

// point is one column of a table.
type point struct {
	Group string
	// Size of a result in bytes; in the groups REST and mcp, of the text in it.
	Size int
	// Workers is how many calls are open at once.
	Workers int
	// Nodes is how many of them are called.
	Nodes int
	// Pods is how many entry pods the workers share.
	Pods int
}

// String is the column's name, of which there is one in a group.
func (p point) String() string {
	switch p.Group {
	case groupSpread, groupNodes:
		return fmt.Sprintf("%d nodes, c=%d", p.Nodes, p.Workers)
	case groupPods:
		return fmt.Sprintf("entry pods: %d, c=%d", p.Pods, p.Workers)
	}
	if p.Size >= 1<<10 {
		return fmt.Sprintf("%d KiB, c=%d", p.Size>>10, p.Workers)
	}
	return fmt.Sprintf("%d B, c=%d", p.Size, p.Workers)
}

// name is unique among all columns.
func (p point) name() string { return p.Group + ", " + p.String() }

// resultSize is that of a result.
func (p point) resultSize() int {
	if p.text() {
		return nodes.TextSize(p.Size)
	}
	return p.Size
}

// text reports whether nodes answer with a text, of which REST's answer has a copy.
func (p point) text() bool { return p.Group == groupREST || p.Group == groupMCP }

// at makes a point that differs from the others of its group in size and workers.
func at(group string, size, workers int) point {
	return point{Group: group, Size: size, Workers: workers, Nodes: nodeCount, Pods: 1}
}

// allPoints are all columns, in the order of the groups.
func allPoints() (all []point) {
	for _, size := range []int{smallResult, largeResult} {
		for _, workers := range []int{1, 64, 512} {
			all = append(all, at(groupStreams, size, workers))
		}
	}
	all = append(all,
		at(groupUnary, smallResult, 1), at(groupUnary, smallResult, 64), at(groupUnary, smallResult, 512), at(groupUnary, largeResult, 64),
		at(groupREST, smallResult, 64), at(groupREST, smallResult, 512), at(groupREST, largeResult, 1), at(groupREST, largeResult, 64),
		at(groupUnnamed, smallResult, 64),
		at(groupMCP, smallResult, 1), at(groupMCP, smallResult, 64), at(groupMCP, largeResult, 64),
	)
	for _, count := range []int{nodeCount, maxNodes} {
		all = append(all, point{groupSpread, smallResult, 512, count, 1})
	}
	for _, count := range []int{100, 1000, 10_000} {
		all = append(all, point{groupNodes, smallResult, 64, count, 1})
	}
	for pods := 1; pods <= maxPods; pods++ {
		all = append(all, point{groupPods, smallResult, 64, nodeCount, pods})
	}
	return all
}

// tastePoints are one or two columns of each group.
func tastePoints() []point {
	return []point{
		at(groupStreams, smallResult, 1), at(groupStreams, smallResult, 64), at(groupStreams, largeResult, 64),
		at(groupUnary, smallResult, 64), at(groupREST, smallResult, 64), at(groupREST, largeResult, 64), at(groupUnnamed, smallResult, 64),
		at(groupMCP, smallResult, 1), at(groupMCP, largeResult, 64),
		{groupSpread, smallResult, 512, maxNodes, 1},
		{groupNodes, smallResult, 64, 100, 1}, {groupNodes, smallResult, 64, 500, 1},
		{groupPods, smallResult, 64, nodeCount, 1}, {groupPods, smallResult, 64, nodeCount, 2},
	}
}
