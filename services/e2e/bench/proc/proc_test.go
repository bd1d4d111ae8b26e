package proc

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if role, config, ok := Role(); ok {
		os.Exit(child(role, config))
	}
	goleak.VerifyTestMain(m)
}

func child(role string, config []byte) int {
	switch role {
	case "worker":
		w := &worker{}
		if err := json.Unmarshal(config, w); err != nil {
			return 2
		}
		if err := Serve(map[string]any{"Worker": w}); err != nil {
			return 3
		}
		return w.ExitCode
	case "deaf":
		<-time.After(time.Hour) // with select {} alone Go would call it a deadlock
	}
	fmt.Fprintln(os.Stderr, "no such role:", role)
	return 4
}

// worker is the service of the role under test.
type worker struct{ ExitCode, Factor int }

func (w *worker) Times(n int, product *int) error {
	*product = n * w.Factor
	return nil
}

// Burn uses CPU time until the process has used d of it.
func (w *worker) Burn(d time.Duration, _ *Nothing) error {
	for {
		u, err := Self()
		if err != nil || u.CPU >= d {
			return err
		}
	}
}

var held []byte

func (w *worker) Hold(n int, _ *Nothing) error {
	held = make([]byte, n)
	for i := range held {
		held[i] = 1 // resident
	}
	return nil
}

func start(t *testing.T, role string, config any) *Child {
	t.Helper()
	c, err := Start(role, config, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChildServesItsRoleAndEndsWithItsParent(t *testing.T) {
	t.Parallel()
	c := start(t, "worker", worker{Factor: 7})
	var product int
	if err := c.Call("Worker.Times", 6, &product); err != nil || product != 42 {
		t.Fatal(product, err)
	}
	if err := c.Call("Worker.Nothing", 6, &product); err == nil || !strings.HasPrefix(err.Error(), "worker: Worker.Nothing: ") {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
}

func TestUsageIsTheChildsOwn(t *testing.T) {
	t.Parallel()
	c := start(t, "worker", worker{})
	defer c.Kill()
	before, err := c.Usage()
	if err != nil {
		t.Fatal(err)
	}
	const burnt = 200 * time.Millisecond
	if err := c.Call("Worker.Burn", before.CPU+burnt, &Nothing{}); err != nil {
		t.Fatal(err)
	}
	const size = 64 << 20
	if err := c.Call("Worker.Hold", size, &Nothing{}); err != nil {
		t.Fatal(err)
	}
	after, err := c.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if d := after.CPU - before.CPU; d < burnt || d > 20*burnt {
		t.Errorf("CPU grew by %v, %v were burnt", d, burnt)
	}
	if d := after.Heap - before.Heap; d < size {
		t.Errorf("the heap grew by %d, %d are held", d, size)
	}
	if d := after.RSS - before.RSS; after.RSS != 0 && (d < size || d > 8*size) {
		t.Errorf("RSS grew by %d, %d are held", d, size)
	}
}

func TestProfiles(t *testing.T) {
	t.Parallel()
	c := start(t, "worker", worker{})
	defer c.Kill()
	cpu, heap := filepath.Join(t.TempDir(), "cpu"), filepath.Join(t.TempDir(), "heap")
	for _, step := range []func() error{
		func() error { return c.Do("StartProfile", cpu) },
		func() error { return c.Do("StopProfile", Nothing{}) },
		func() error { return c.Do("HeapProfile", heap) },
		func() error { return c.Do("Release", Nothing{}) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{cpu, heap} {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := c.Do("HeapProfile", filepath.Join(heap, "not", "there")); err == nil {
		t.Error("no error for a file that cannot be written")
	}
}

func TestStopTellsHowTheChildEnded(t *testing.T) {
	t.Parallel()
	if err := start(t, "worker", worker{ExitCode: 9}).Stop(); err == nil || !strings.Contains(err.Error(), "exit status 9") {
		t.Error(err)
	}
	if err := start(t, "deaf", nil).Stop(); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Error(err)
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	c := start(t, "worker", worker{})
	if _, err := c.Usage(); err != nil {
		t.Fatal(err)
	}
	c.Kill()
	if _, err := c.Usage(); err == nil {
		t.Error("a killed child answered")
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
}
