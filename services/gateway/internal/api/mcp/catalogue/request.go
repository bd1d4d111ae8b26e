package catalogue

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

// Principal is who asks, and what the proof of that allows.
type Principal struct {
	User ids.UserID
	// Grant is what may be done.
	Grant auth.Grant
	// Ends is when a stream of the principal has to end; zero for never.
	Ends time.Time
}

// Request is who asks for tools, and for which.
type Request struct {
	Principal
	Filter
}

// Uses reports whether a request may see a device and wants to.
func (r *Request) Uses(node ids.NodeID) bool {
	return r.Grant.Nodes.Has(node) && (r.Nodes == nil || slices.Contains(r.Nodes, string(node)))
}

// Filter is what a client's URL leaves of the tools.
type Filter struct {
	// Tools and Nodes are the names and devices that are left; nil for all.
	Tools, Nodes []string
	// ReadOnly leaves the tools that say that they change nothing.
	ReadOnly bool
	// Search shows a few tools that find and call the others.
	Search bool
	// Include names sources that are not there unless they are asked for.
	Include []string
}

// ReadFilter reads the query of a URL.
func ReadFilter(query url.Values) (f Filter, err error) {
	f.Tools, f.Nodes, f.Include = list(query, "tools"), list(query, "nodes"), list(query, "include")
	if raw, ok := query["readonly"]; ok {
		if f.ReadOnly, err = strconv.ParseBool(raw[0]); err != nil {
			return f, fmt.Errorf("readonly is %.64q, must be true or false", raw[0])
		}
	}
	switch mode := query.Get("mode"); mode {
	case "":
	case "search":
		f.Search = true
	default:
		return f, fmt.Errorf("mode is %.64q, must be search or left out", mode)
	}
	return f, nil
}

// list reads a parameter that has names separated by commas and may stand there several times; nil where it is not there.
func list(query url.Values, name string) []string {
	values, ok := query[name]
	if !ok {
		return nil
	}
	names := []string{}
	for name := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
