package pgblob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace/pgblob"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func open(t *testing.T, url string) *blob.Bucket {
	t.Helper()
	b, err := pgblob.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// bytesOf is content that differs from place to place.
func bytesOf(size int, seed byte) []byte {
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i>>8) ^ byte(i) ^ seed
	}
	return data
}

func TestObjectsOfEverySize(t *testing.T) {
	t.Parallel()
	b, ctx := open(t, testkit.Postgres(t)), t.Context()
	for _, size := range []int{0, 1, 256<<10 - 1, 256 << 10, 256<<10 + 1, 3<<20 + 17} {
		key, want := fmt.Sprint("k", size), bytesOf(size, 1)
		if err := b.WriteAll(ctx, key, want, &blob.WriterOptions{ContentType: "text/x"}); err != nil {
			t.Fatal(err)
		}
		got, err := b.ReadAll(ctx, key)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes: %d came back, %v", size, len(got), err)
		}
		for _, r := range [][2]int{{0, 1}, {size / 2, -1}, {size / 3, size / 3}, {max(0, size-1), 10}} {
			reader, err := b.NewRangeReader(ctx, key, int64(r[0]), int64(r[1]), nil)
			if err != nil {
				t.Fatal(err)
			}
			part, err := io.ReadAll(reader)
			end := size
			if r[1] >= 0 {
				end = min(size, r[0]+r[1])
			}
			if err = errors.Join(err, reader.Close()); err != nil || !bytes.Equal(part, want[min(r[0], end):end]) {
				t.Errorf("%d bytes from %d, %d of them: %d, %v", size, r[0], r[1], len(part), err)
			}
		}
	}
}

// Several pods open one database at once, and overwrite, read and delete one object: a reader gets one of the versions as it was
// written, and nothing is left in the end.
func TestReadersSeeWholeObjects(t *testing.T) {
	t.Parallel()
	url := testkit.Postgres(t)
	var pods [3]*blob.Bucket
	var opening sync.WaitGroup
	for i := range pods {
		opening.Go(func() { pods[i] = open(t, url) })
	}
	opening.Wait()
	const size = 700 << 10
	var work sync.WaitGroup
	for i, b := range pods {
		work.Go(func() {
			for n := range 12 {
				seed := byte(16*n + i)
				if err := b.WriteAll(t.Context(), "k", bytesOf(size, seed), nil); err != nil {
					t.Error(err)
				}
				got, err := b.ReadAll(t.Context(), "k")
				switch {
				case gcerrors.Code(err) == gcerrors.NotFound: // deleted by another
				case err != nil || len(got) != size || !bytes.Equal(got, bytesOf(size, got[0])):
					t.Errorf("%d bytes, %v", len(got), err)
				}
				if n%4 == 3 {
					if err := b.Delete(t.Context(), "k"); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
						t.Error(err)
					}
				}
			}
		})
	}
	work.Wait()
	if err := pods[0].Delete(t.Context(), "k"); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		t.Error(err)
	}
	if parts := count(t, url, "workspace_parts"); parts != 0 {
		t.Errorf("%d parts are left", parts)
	}
}

func TestAWriteThatIsGivenUpStoresNothing(t *testing.T) {
	t.Parallel()
	url := testkit.Postgres(t)
	b := open(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	w, err := b.NewWriter(ctx, "k", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(bytesOf(1<<20, 1))
	cancel()
	if err := w.Close(); err == nil {
		t.Error("it was stored")
	}
	if there, err := b.Exists(t.Context(), "k"); there || err != nil {
		t.Errorf("exists: %v, %v", there, err)
	}
	if parts := count(t, url, "workspace_parts"); parts != 0 {
		t.Errorf("%d parts are left", parts)
	}
}
