package cluster

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// Main is [testkit.Main] for packages whose tests wait more than they compute: many run at once, however few the cores.
// It also lets children of the test binary be pods.
//
//	func TestMain(m *testing.M) { cluster.Main(m) }
func Main(m *testing.M) {
	runProcess()
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		_ = flag.Set("test.parallel", "8") // a number always parses
	}
	// The Redis client of a registry that stopped while its Redis was away tries once more within a second, then ends.
	testkit.Main(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}
