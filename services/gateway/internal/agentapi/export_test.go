package agentapi

import agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"

// AppendEvent writes an event in the seed's naming.
func AppendEvent(b []byte, e *agentv1.Event) []byte { return appendEvent(b, e, seeds) }

// ParseInvoke and ParseResume read bodies.
var (
	ParseInvoke = invokeRequest
	ParseResume = resumeRequest
)
