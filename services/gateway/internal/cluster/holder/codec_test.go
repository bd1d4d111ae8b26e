package holder

import (
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// plain is the codec of nodes that read what is on the bus.
type plain struct{}

func (plain) Call(c codec.Call) (codec.Wire, *errs.Error)               { return codec.Wire{Frame: c.Frame}, nil }
func (plain) Cancel(id ids.CallID, reason string) []byte                { return []byte(string(id) + " " + reason) }
func (plain) Ping(time.Time) []byte                                     { return nil }
func (plain) Read(*frame.Buffer) codec.Message                          { return codec.Message{} }
func (plain) Forward(f []byte, _ string, send func([]byte) error) error { return send(f) }
