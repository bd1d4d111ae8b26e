package cluster

import (
	"flag"
	"testing"

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
		_ = flag.Set("test.parallel", "12") // a number always parses
	}
	testkit.Main(m)
}
