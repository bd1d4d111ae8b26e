package pgblob

import (
	"bytes"
	"context"
	"crypto/md5"
	"database/sql"
	"errors"

	"gocloud.dev/blob/driver"
)

// NewTypedWriter implements [driver.Bucket].
func (b *bucket) NewTypedWriter(ctx context.Context, key, contentType string, o *driver.WriterOptions) (driver.Writer, error) {
	if o.IfNotExist || len(o.Metadata) > 0 {
		return nil, errUnsupported
	}
	return &writer{ctx: ctx, b: b, key: key, contentType: contentType, want: o.ContentMD5}, nil
}

// writer keeps what it is given until the end: a file of the workspace is in memory anyway, and a transaction that waits for a caller would
// hold a connection.
type writer struct {
	ctx         context.Context //nolint:containedctx // the driver's interface has it at the beginning only
	b           *bucket
	key         string
	contentType string
	want        []byte // the MD5 that the caller expects; nil for any
	data        bytes.Buffer
}

// Write implements [driver.Writer].
func (w *writer) Write(p []byte) (int, error) { return w.data.Write(p) }

var errDamaged = errors.New("pgblob: the content has another MD5 than was said")

// Close implements [driver.Writer]: it stores the object, as a whole or not at all.
func (w *writer) Close() error {
	data := w.data.Bytes()
	sum := md5.Sum(data) //nolint:gosec // as object storage has it: it tells damage, not attackers
	if w.want != nil && !bytes.Equal(w.want, sum[:]) {
		return errDamaged
	}
	return w.b.transact(w.ctx, func(tx *sql.Tx) error {
		var version int64
		if err := tx.QueryRowContext(w.ctx, `SELECT nextval('workspace_versions')`).Scan(&version); err != nil {
			return err
		}
		for part := 0; part*partSize < len(data); part++ {
			piece := data[part*partSize : min((part+1)*partSize, len(data))]
			if _, err := tx.ExecContext(w.ctx, `INSERT INTO workspace_parts (version, part, data) VALUES ($1, $2, $3)`, version, part, piece); err != nil {
				return err
			}
		}
		return w.replace(tx, version, int64(len(data)), sum[:])
	})
}

// replace has the object's row name the new parts, and removes the old ones. Of two writers of one object the second waits here.
func (w *writer) replace(tx *sql.Tx, version, size int64, sum []byte) error {
	if err := lock(w.ctx, tx, w.key); err != nil {
		return err
	}
	_, err := tx.ExecContext(w.ctx, `DELETE FROM workspace_parts WHERE version = (SELECT version FROM workspace_objects WHERE key = $1)`, w.key)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(w.ctx, `
		INSERT INTO workspace_objects (key, version, content_type, size, md5, modified) VALUES ($1, $2, $3, $4, $5, clock_timestamp())
		ON CONFLICT (key) DO UPDATE SET version = excluded.version, content_type = excluded.content_type, size = excluded.size,
			md5 = excluded.md5, modified = excluded.modified`, w.key, version, w.contentType, size, sum)
	return err
}
