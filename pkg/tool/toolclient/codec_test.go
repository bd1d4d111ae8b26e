package toolclient_test

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// FuzzDecode compares the decoder with the generated one on all that the generated one would write itself.
func FuzzDecode(f *testing.F) {
	for _, r := range []*toolv1.CallsResponse{
		{},
		{Id: 1, Event: &toolv1.CallsResponse_Answer{Answer: &toolv1.Answer{NodeId: "n", Outcome: &toolv1.Answer_ResultJson{ResultJson: []byte(`{}`)}}}},
		{Id: 1 << 40, Event: &toolv1.CallsResponse_Answer{Answer: &toolv1.Answer{Outcome: &toolv1.Answer_ErrorJson{}}}},
		{Id: 2, Event: &toolv1.CallsResponse_Answer{Answer: &toolv1.Answer{}}},
		{Id: 3, Event: &toolv1.CallsResponse_Progress{Progress: &toolv1.Progress{Progress: .5, Total: 1, Message: "m"}}},
		{Id: 4, Event: &toolv1.CallsResponse_Failure{Failure: errs.New(errs.NodeBusy, "m").Failure()}},
	} {
		raw, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add(append(raw, 0x2a, 1, 'x', 0x35, 1, 2, 3, 4)) // fields of a newer gateway
	}
	f.Add([]byte{0x08})
	f.Add([]byte{0x1a, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		var want toolv1.CallsResponse
		wantErr := proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, &want)
		got, err := toolclient.Decode(bytes.Clone(data))
		if wantErr != nil || err != nil {
			if wantErr == nil {
				t.Fatalf("%x: %v", data, err)
			}
			return
		}
		// A message may say a thing twice, or leave the usual order; no gateway does.
		if again, err := proto.Marshal(&want); err != nil || !bytes.Equal(again, data) {
			return
		}
		if !proto.Equal(got, &want) {
			t.Errorf("%x: got %v, want %v", data, got, &want)
		}
	})
}
