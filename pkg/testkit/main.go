package testkit

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main runs a package's tests and exits: it stops the shared servers, fails the run when goroutines are left behind, and
// reports the source of every server used ("testkit: redis = ...").
//
//	func TestMain(m *testing.M) { testkit.Main(m) }
func Main(m *testing.M, opts ...goleak.Option) {
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, "testkit:", err)
		code = max(code, 1)
	}
	if code == 0 {
		if err := goleak.Find(opts...); err != nil {
			fmt.Fprintln(os.Stderr, "testkit: goroutines outlive the tests:", err)
			code = 1
		}
	}
	for _, line := range used.lines() {
		fmt.Fprintln(os.Stderr, "testkit:", line)
	}
	os.Exit(code)
}
