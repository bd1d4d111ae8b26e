package bus_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

// BenchmarkCall is what the bus does for a call, a request to one subject and the answer on another that was never used, for
// a client that may do everything and for one whose subjects the server looks up.
func BenchmarkCall(b *testing.B) {
	url := testkit.NATS(b)
	for name, url := range map[string]string{"everything": url, "gateway": testkit.As(access.Gateway, url)} {
		b.Run(name, func(b *testing.B) {
			dial := func() *bus.Conn {
				c, err := bus.Connect(b.Context(), bus.Options{URL: url, Service: access.Gateway})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(c.Close)
				return c
			}
			holder, router, heard := dial(), dial(), make(chan *nats.Msg, 1)
			if _, err := holder.QueueSubscribe("hecaton.node.ana.desk.call", bus.HolderQueue, func(m *nats.Msg) { _ = m.Respond(m.Data) }); err != nil {
				b.Fatal(err)
			}
			if _, err := router.ChanSubscribe("hecaton.reply.g.*", heard); err != nil {
				b.Fatal(err)
			}
			if err := holder.FlushTimeout(5 * time.Second); err != nil {
				b.Fatal(err)
			}
			data, n := make([]byte, 200), 0
			for b.Loop() {
				n++
				if err := router.PublishRequest("hecaton.node.ana.desk.call", "hecaton.reply.g."+strconv.Itoa(n), data); err != nil {
					b.Fatal(err)
				}
				<-heard
			}
		})
	}
}
