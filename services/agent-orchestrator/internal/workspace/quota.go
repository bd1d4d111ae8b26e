package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gocloud.dev/blob"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Quota is how much one user may store; 0 is no limit.
type Quota struct {
	Files int
	Bytes int64
}

// retryFull is when to try a full workspace again; nobody but its user knows when there will be room.
const retryFull = time.Minute

// makeRoom checks that there is room for a file of size bytes. It lists the storage, so that no count of our own can differ
// from it. The caller holds the user's slot for writes, so that of two files written in this pod the second sees the first.
func (s *Store) makeRoom(ctx context.Context, user ids.UserID, key string, size int64) error {
	if s.quota == (Quota{}) {
		return nil
	}
	files, bytes := 1, size
	all := s.bucket.List(&blob.ListOptions{Prefix: home(user, s.area)})
	for {
		object, err := all.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if object.IsDir || object.Key == key { // it will be replaced
			continue
		}
		files, bytes = files+1, bytes+object.Size
	}
	switch {
	case s.quota.Files > 0 && files > s.quota.Files:
		return full("files", int64(s.quota.Files), 0, fmt.Sprintf("this user has as many files as one may have, %d", s.quota.Files))
	case s.quota.Bytes > 0 && bytes > s.quota.Bytes:
		left := max(0, s.quota.Bytes-(bytes-size))
		return full("file_bytes", s.quota.Bytes, left, fmt.Sprintf(
			"the file has %d bytes; of the %d that a user's files may have, %d are left", size, s.quota.Bytes, left))
	}
	return nil
}

func full(name string, limit, left int64, why string) error {
	e := errs.New(errs.StorageFull, "%s; delete some first", why)
	e.Limit = &errs.LimitMet{Name: name, Limit: limit, Remaining: left, RetryAfter: retryFull}
	return e
}
