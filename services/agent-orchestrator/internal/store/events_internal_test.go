package store

import (
	"bytes"
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// FuzzUnframe: whatever a row holds is read or refused, and what is read is framed to the same events again.
func FuzzUnframe(f *testing.F) {
	row, err := frame([]*agentv1.Event{
		{Kind: &agentv1.Event_Text{Text: &agentv1.Text{Content: "one"}}}, {}, {Kind: &agentv1.Event_Complete{}},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(row, int64(3))
	f.Add(row[:len(row)-1], int64(3))
	f.Add(row[1:], int64(0))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, int64(1))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, int64(1))
	f.Fuzz(func(t *testing.T, data []byte, last int64) {
		events, err := unframe(data, "session", "run", last)
		if err != nil {
			if !errors.Is(err, errFrame) {
				t.Errorf("error is %v", err)
			}
			return
		}
		for i, e := range events {
			if e.GetSeq() != last-int64(len(events)-1-i) || e.GetSessionId() != "session" || e.GetRunId() != "run" {
				t.Errorf("event %d is %v", i, e)
			}
		}
		framed, err := frame(events)
		if err != nil {
			t.Fatal(err)
		}
		again, err := unframe(framed, "session", "run", last)
		if err != nil || len(again) != len(events) {
			t.Fatalf("%d events came back as %d, %v", len(events), len(again), err)
		}
		for i := range events {
			a, _ := proto.MarshalOptions{Deterministic: true}.Marshal(&agentv1.Event{At: events[i].GetAt(), Kind: events[i].GetKind()})
			b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(&agentv1.Event{At: again[i].GetAt(), Kind: again[i].GetKind()})
			if !bytes.Equal(a, b) {
				t.Errorf("event %d came back as %v, was %v", i, again[i], events[i])
			}
		}
	})
}
