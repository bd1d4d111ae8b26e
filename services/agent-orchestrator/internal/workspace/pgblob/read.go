package pgblob

import (
	"context"
	"database/sql"
	"errors"
	"io"

	"gocloud.dev/blob/driver"
)

// NewRangeReader implements [driver.Bucket]. One statement reads the row and the parts, so they belong together.
func (b *bucket) NewRangeReader(ctx context.Context, key string, offset, length int64, _ *driver.ReaderOptions) (driver.Reader, error) {
	ctx, cancel := context.WithCancel(ctx)
	last := int64(1<<31 - 1)
	if length >= 0 {
		last = (offset + length) / partSize
	}
	rows, err := b.db.QueryContext(ctx, `
		SELECT o.content_type, o.size, o.modified, p.data
		FROM workspace_objects o LEFT JOIN workspace_parts p ON p.version = o.version AND p.part BETWEEN $2 AND $3
		WHERE o.key = $1 ORDER BY p.part`, key, offset/partSize, last)
	if err != nil {
		cancel()
		return nil, err
	}
	r := &reader{rows: rows, cancel: cancel, skip: offset % partSize}
	err = r.next()
	if errors.Is(err, io.EOF) {
		err = errNotFound
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.left = max(0, r.attributes.Size-offset)
	if length >= 0 {
		r.left = min(r.left, length)
	}
	return r, nil
}

// reader hands out the parts of an object, one after the other. It has a connection until it is closed.
type reader struct {
	rows       *sql.Rows
	cancel     context.CancelFunc
	attributes driver.ReaderAttributes
	part       []byte // what is left of the current one
	skip, left int64
}

// next goes to the next part; io.EOF where there is none.
func (r *reader) next() error {
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	err := r.rows.Scan(&r.attributes.ContentType, &r.attributes.Size, &r.attributes.ModTime, &r.part)
	r.part = r.part[min(r.skip, int64(len(r.part))):]
	r.skip = 0
	return err
}

// Read implements [driver.Reader].
func (r *reader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	for len(r.part) == 0 {
		if err := r.next(); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
	}
	n := copy(p[:min(int64(len(p)), r.left)], r.part)
	r.part, r.left = r.part[n:], r.left-int64(n)
	return n, nil
}

// Close implements [driver.Reader]. What was read to its end keeps its connection; the rest of what was not is not waited for, at the
// price of the connection.
func (r *reader) Close() error {
	if r.left > 0 {
		r.cancel()
	}
	err := r.rows.Close()
	r.cancel()
	if errors.Is(err, context.Canceled) {
		return nil // as asked
	}
	return err
}

// Attributes implements [driver.Reader].
func (r *reader) Attributes() *driver.ReaderAttributes { return &r.attributes }

// As implements [driver.Reader]; there is nothing below to show.
func (r *reader) As(any) bool { return false }
