package envelope_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
)

func TestCallsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, want := range []envelope.Call{
		{ID: "550e8400-e29b-41d4-a716-446655440000", Deadline: time.UnixMilli(1_700_000_000_123)},
		{ID: "x", Deadline: time.UnixMilli(1), Kind: codec.Relayed, Type: nodev1.NodeType_NODE_TYPE_DESKTOP, Traceparent: "00-a-b-01", Intake: 9 << 20, Epoch: 1_700_000_000_123},
	} {
		got, err := envelope.ParseCall(want.Header())
		if err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
}

func TestRepliesAreToldApart(t *testing.T) {
	t.Parallel()
	if kind, err := envelope.ParseReply(&nats.Msg{Data: []byte("{}")}); kind != envelope.Answer || err != nil {
		t.Error(kind, err)
	}
	for status, want := range map[calls.Status]envelope.ReplyKind{calls.Queued: envelope.Queued, calls.Sent: envelope.Sent, calls.Working: envelope.Working} {
		if kind, _ := envelope.ParseReply(envelope.Status("r", status)); kind != want {
			t.Errorf("status %d arrives as %q", status, kind)
		}
	}
	for _, reason := range errs.CallReasons() {
		_, err := envelope.ParseReply(envelope.Failure("r", errs.New(reason, "because")))
		if err == nil || err.Reason != reason || err.Message != "because" {
			t.Errorf("%s arrives as %v", reason, err)
		}
	}
	if !envelope.NoResponders(&nats.Msg{Header: nats.Header{"Status": {"503"}}}) || envelope.NoResponders(&nats.Msg{Data: []byte("{}")}) {
		t.Error("no responders")
	}
}

func FuzzParseCall(f *testing.F) {
	f.Add("id 123 0 1", "12", "7")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, call, intake, epoch string) {
		c, err := envelope.ParseCall(nats.Header{"Hecaton-Call": {call}, "Hecaton-Intake": {intake}, "Hecaton-Epoch": {epoch}})
		if err == nil && (c.ID == "" || c.Intake < 0 || c.Epoch < 0 || epoch != "" && c.Epoch == 0) {
			t.Fatalf("%q, %q, %q gave %+v", call, intake, epoch, c)
		}
	})
}
