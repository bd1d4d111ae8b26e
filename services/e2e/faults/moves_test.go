package faults_test

import (
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// movesVariable names the environment variable that says how often the node moves; the nightly checks ask for 2,000.
const movesVariable = "TEST_MOVES"

func moves(t *testing.T) int {
	t.Helper()
	raw := os.Getenv(movesVariable)
	if raw == "" {
		return 100
	}
	n, err := strconv.Atoi(raw)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A node moves all the time between pods that are at different servers of the bus, while it is called from every pod. The
// servers lose a call now and then; its caller is told that it was not delivered, and no call runs twice.
func TestNoCallIsLostWhenANodeMoves(t *testing.T) {
	t.Parallel()
	servers := testkit.NATSCluster(t, 3)
	c := cluster.Start(t, cluster.Options{Gateways: -1, NATSURL: strings.Join(servers, ",")})
	for _, s := range servers {
		c.StartGateway(func(cfg *gateway.Config) { cfg.NATSURL = config.Secret(testkit.As(access.Gateway, s)) })
	}
	l := &cluster.Ledger{User: "u", Node: "n"}
	query := url.Values{"client_id": {"user_u"}, "node_id": {"n"}}
	connect := func(i int) *cluster.Client {
		n := c.Gateways[i%len(c.Gateways)].Open(t, "/ws/extension?"+query.Encode())
		n.Serve(l.See)
		return n
	}
	n := connect(0)
	answers := func(more int) {
		t.Helper()
		before := l.Answered()
		testkit.Eventually(t, 20*time.Second, func() bool { return l.Answered() >= before+more }, "calls are answered")
	}
	stop := l.Load(t.Context(), 16, func(n, attempt int) (cluster.Way, *cluster.Gateway) {
		return cluster.Ways[n%len(cluster.Ways)], c.Gateways[(n/len(cluster.Ways)+attempt)%len(c.Gateways)]
	})
	answers(100)
	for i := range moves(t) {
		if i%2 == 0 {
			n.Cut() // it connects again where it can
			n = connect(i + 1)
		} else {
			old := n
			n = connect(i + 1) // it is there twice, for a moment
			<-old.Done()
		}
		answers(20)
	}
	stop()
	l.Check(t, "NODE_DISCONNECTED") // of a call whose node's socket ended before the answer came
	t.Logf("of these, %d calls were lost on their way", l.Lost())
}
