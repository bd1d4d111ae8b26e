package workspace_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

func TestAUsersFilesHaveSoMuchRoom(t *testing.T) {
	t.Parallel()
	s := open(t, workspace.Options{
		URL: workspace.DirURL(filepath.Join(t.TempDir(), "files")), Quota: workspace.Quota{Files: 3, Bytes: 1000},
	})
	write := func(user ids.UserID, path string, size int) error {
		t.Helper()
		return s.Put(t.Context(), user, path, "", []byte(strings.Repeat("x", size)))
	}
	full := func(err error, name string, left int64) {
		t.Helper()
		var e *errs.Error
		if !errors.As(err, &e) || e.Reason != errs.StorageFull || e.Limit == nil || e.Limit.Name != name || e.Limit.Remaining != left {
			t.Errorf("got %v", err)
		}
	}
	if err := errors.Join(write("ana", "a", 400), write("ana", "dir/b", 400)); err != nil {
		t.Fatal(err)
	}
	full(write("ana", "c", 201), "file_bytes", 200)
	if err := errors.Join(write("ana", "c", 200), write("ana", "a", 300)); err != nil { // a is replaced
		t.Error(err)
	}
	full(write("ana", "d", 1), "files", 0)
	if err := write("an", "d", 1000); err != nil {
		t.Errorf("another user: %v", err)
	}
	if err := s.Delete(t.Context(), "ana", "dir/b"); err != nil {
		t.Fatal(err)
	}
	if err := write("ana", "d", 500); err != nil {
		t.Errorf("after a delete: %v", err)
	}
}

// Files that come at once do not share the same room.
func TestRoomIsGivenOnce(t *testing.T) {
	t.Parallel()
	s := open(t, workspace.Options{URL: workspace.DirURL(filepath.Join(t.TempDir(), "files")), Quota: workspace.Quota{Bytes: 1000}})
	var kept atomic.Int64
	var work sync.WaitGroup
	for i := range 20 {
		work.Go(func() {
			if err := s.Put(t.Context(), "ana", fmt.Sprint(i), "", make([]byte, 300)); err == nil {
				kept.Add(1)
			} else if !errors.Is(err, errs.StorageFull) {
				t.Error(err)
			}
		})
	}
	work.Wait()
	if kept.Load() != 3 {
		t.Errorf("%d files of 300 bytes have room in 1000", kept.Load())
	}
}
