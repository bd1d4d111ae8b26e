package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Stat returns a file's size, type and times, without its content.
func (s *Store) Stat(ctx context.Context, user ids.UserID, path string) (File, error) {
	key, err := s.key(user, path)
	if err != nil {
		return File{}, err
	}
	file, err := s.stat(ctx, key, path)
	return file, refuse(ctx, err, path)
}

func (s *Store) stat(ctx context.Context, key, path string) (File, error) {
	defer s.lock(key, false)()
	a, err := s.bucket.Attributes(ctx, key)
	if err != nil {
		return File{}, err
	}
	return File{
		Path: path, Size: a.Size, ContentType: a.ContentType, Updated: a.ModTime.UTC(), ETag: etag(a.As, a.ModTime, a.Size),
	}, nil
}

// etag is S3's own, since its times have seconds only; for other storages it is made of time and size.
func etag(as func(any) bool, at time.Time, size int64) string {
	var head s3.HeadObjectOutput
	var get s3.GetObjectOutput
	switch {
	case as(&head) && head.ETag != nil:
		return strings.Trim(*head.ETag, `"`)
	case as(&get) && get.ETag != nil:
		return strings.Trim(*get.ETag, `"`)
	}
	return fmt.Sprintf("%x-%x", at.UnixNano(), size)
}

// Get reads a file.
func (s *Store) Get(ctx context.Context, user ids.UserID, path string) (File, []byte, error) {
	key, err := s.key(user, path)
	if err != nil {
		return File{}, nil, err
	}
	slot := s.cache.slot(ctx, user, "file:"+path)
	if file, data, ok := slot.file(); ok {
		return file, data, nil
	}
	file, data, err := s.read(ctx, key, path)
	if err != nil {
		return File{}, nil, refuse(ctx, err, path)
	}
	slot.keepFile(ctx, file, data)
	return file, data, nil
}

func (s *Store) read(ctx context.Context, key, path string) (File, []byte, error) {
	r, err := s.open(ctx, key)
	if err != nil {
		return File{}, nil, err
	}
	defer r.Close()
	if r.Size() > s.maxBytes {
		return File{}, nil, tooLarge(path, s.maxBytes)
	}
	data := make([]byte, r.Size())
	if _, err := io.ReadFull(r, data); err != nil {
		return File{}, nil, err
	}
	return File{
		Path: path, Size: r.Size(), ContentType: r.ContentType(), Updated: r.ModTime().UTC(), ETag: etag(r.As, r.ModTime(), r.Size()),
	}, data, nil
}

func (s *Store) open(ctx context.Context, key string) (*blob.Reader, error) {
	defer s.lock(key, false)() // once it is open, it stays the same, even if the file is replaced
	return s.bucket.NewReader(ctx, key, nil)
}

// Put creates or replaces a file. If mimeType is not valid, name and content decide the type.
func (s *Store) Put(ctx context.Context, user ids.UserID, path, mimeType string, data []byte) error {
	key, err := s.key(user, path)
	if err != nil {
		return err
	}
	if int64(len(data)) > s.maxBytes {
		return tooLarge(path, s.maxBytes)
	}
	done, err := s.writes.take(ctx, user)
	if err != nil {
		return err
	}
	defer done()
	if err := s.makeRoom(ctx, user, key, int64(len(data))); err != nil {
		return refuse(ctx, err, path)
	}
	err = s.change(ctx, user, key, func() error {
		return s.bucket.WriteAll(ctx, key, data, &blob.WriterOptions{ContentType: contentType(mimeType, path, data)})
	})
	return refuse(ctx, inTheWay(err), path)
}

// inTheWay turns an error that only file systems have into a clear one.
func inTheWay(err error) error {
	for _, meaning := range []error{syscall.ENOTDIR, syscall.EISDIR, syscall.EEXIST} {
		if errors.Is(err, meaning) {
			return errs.New(errs.InvalidArgument, "path leads through a file, or names a directory")
		}
	}
	return err
}

// Delete removes a file.
func (s *Store) Delete(ctx context.Context, user ids.UserID, path string) error {
	key, err := s.key(user, path)
	if err != nil {
		return err
	}
	err = s.change(ctx, user, key, func() error {
		// S3 does not report that a file does not exist, and a file system would delete a directory.
		exists, err := s.bucket.Exists(ctx, key)
		if err == nil && !exists {
			err = notFound(path)
		}
		if err != nil {
			return err
		}
		return s.bucket.Delete(ctx, key)
	})
	return refuse(ctx, err, path)
}

// change does one change of a file. The cache forgets before it and after it: if it forgot only after, a pod that dies in
// between would leave the old state in the cache.
func (s *Store) change(ctx context.Context, user ids.UserID, key string, do func() error) error {
	s.cache.forget(ctx, user)
	defer s.cache.forget(context.WithoutCancel(ctx), user)
	defer s.lock(key, true)()
	return do()
}
