package bus_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func connect(t *testing.T, url string) *bus.Conn {
	t.Helper()
	c, err := bus.Connect(t.Context(), bus.Options{URL: url, Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestPayloadsOfAnySizeCrossTheBus(t *testing.T) {
	t.Parallel()
	url := testkit.NATS(t)
	from, to := connect(t, url), connect(t, url)
	subject := testkit.Prefix(t) + ".x"
	sub, err := to.SubscribeSync(subject)
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, from.MaxMessage(), from.MaxMessage() + 1, 6 << 20, 10 << 20} {
		want := bytes.Repeat([]byte("abcdefg"), size/7+1)[:size]
		if err := from.PublishAny(&nats.Msg{Subject: subject, Data: want}); err != nil {
			t.Fatal(err)
		}
		var a bus.Assembly
		var got []byte
		for got == nil {
			m, err := sub.NextMsgWithContext(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got, err = a.Add(m, 10<<20); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%d bytes arrived as %d", size, len(got))
		}
	}
}

func TestAssemblyRefusesWhatIsNotWhole(t *testing.T) {
	t.Parallel()
	chunk := func(header, data string) *nats.Msg {
		return &nats.Msg{Header: nats.Header{bus.HeaderChunk: {header}}, Data: []byte(data)}
	}
	for name, parts := range map[string][]*nats.Msg{
		"a gap":           {chunk("0/3/6/s", "ab"), chunk("2/3/6/s", "ef")},
		"a late start":    {chunk("1/2/4/s", "ab")},
		"too many bytes":  {chunk("0/2/3/s", "ab"), chunk("1/2/3/s", "cd")},
		"too few bytes":   {chunk("0/2/6/s", "ab"), chunk("1/2/6/s", "cd")},
		"over the bound":  {chunk("0/2/2000/s", "ab")},
		"no numbers":      {chunk("a/b/c/s", "ab")},
		"another count":   {chunk("0/3/6/s", "ab"), chunk("1/2/6/s", "cd")},
		"index too great": {chunk("2/2/4/s", "ab")},
	} {
		var a bus.Assembly
		var err error
		for _, m := range parts {
			_, err = a.Add(m, 1000)
		}
		var chunkErr *bus.ChunkError
		if !errors.As(err, &chunkErr) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAPayloadIsPublishedAgainWherePartsOfItWereLost(t *testing.T) {
	t.Parallel()
	for name, heard := range map[string][]string{
		"its beginning":                {"1/3/6/s", "2/3/6/s"},
		"its end":                      {"0/3/6/s", "1/3/6/s"},
		"something between":            {"0/3/6/s", "2/3/6/s"},
		"more than once":               {"0/3/6/s", "2/3/6/s", "1/3/6/t", "0/3/6/u"},
		"what came before something":   {"2/3/6/s", "0/3/6/t"},
		"everything":                   {},
		"nothing, as far as was heard": {"0/3/6/s"},
	} {
		var a bus.Assembly
		for i, header := range append(heard, "0/3/6/last", "1/3/6/last", "2/3/6/last") {
			whole, err := a.AddAgain(&nats.Msg{Header: nats.Header{bus.HeaderChunk: {header}}, Data: []byte("ab")}, 1000)
			if last := i == len(heard)+2; err != nil || (whole != nil) != last || last && string(whole) != "ababab" {
				t.Errorf("%s: after %s: %q, %v", name, header, whole, err)
			}
		}
	}
	var a bus.Assembly
	if _, err := a.AddAgain(&nats.Msg{Header: nats.Header{bus.HeaderChunk: {"0/2/2000/s"}}}, 1000); err == nil {
		t.Error("more than is allowed is begun")
	}
}

func TestAssemblerKeepsPublishersApart(t *testing.T) {
	t.Parallel()
	chunk := func(header, data string) *nats.Msg {
		return &nats.Msg{Header: nats.Header{bus.HeaderChunk: {header}}, Data: []byte(data)}
	}
	var a bus.Assembler
	var got []string
	for _, m := range []*nats.Msg{
		chunk("0/2/4/p", "ab"), chunk("0/2/4/q", "AB"), chunk("1/2/4/q", "CD"), {Data: []byte("whole")}, chunk("1/2/4/p", "cd"),
	} {
		data, err := a.Add(m, 100)
		if err != nil {
			t.Fatal(err)
		}
		if data != nil {
			got = append(got, string(data))
		}
	}
	if len(got) != 3 || got[0] != "ABCD" || got[1] != "whole" || got[2] != "abcd" {
		t.Fatal(got)
	}
}

func TestAConnDoesNotHearItself(t *testing.T) {
	t.Parallel()
	c := connect(t, testkit.NATS(t))
	subject := testkit.Prefix(t) + ".echo"
	if _, err := c.SubscribeSync(subject); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := c.RequestWithContext(ctx, subject, nil); !errors.Is(err, nats.ErrNoResponders) {
		t.Fatalf("a request of our own came back: %v", err)
	}
}

func TestAPublishFailsAtOnceWhileTheBusIsAwayAndTheConnComesBack(t *testing.T) {
	t.Parallel()
	server := testkit.OwnNATS(t)
	c := connect(t, server.URL())
	back := make(chan struct{}, 1)
	c.OnReconnect(func() { back <- struct{}{} })
	server.Stop()
	testkit.Eventually(t, 10*time.Second, func() bool { return !c.Up() }, "the connection notices that the server is gone")
	if err := c.Publish("x", nil); err == nil {
		t.Error("a publish succeeded without a server")
	}
	server.Start()
	select {
	case <-back:
	case <-time.After(20 * time.Second):
		t.Fatal("not reconnected")
	}
	if err := c.Publish("x", nil); err != nil {
		t.Error(err)
	}
}
