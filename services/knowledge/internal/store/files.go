package store

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// partSize is how many bytes of a file are in one row.
const partSize = 512 << 10

// abandoned is after what time an upload counts as broken off.
const abandoned = time.Hour

// Upload is a file that is coming. Its document is seen by nobody until Finish.
type Upload struct {
	s      *Store
	user   ids.UserID
	base   string
	id     string
	num    int64
	parts  int
	size   int64
	buffer []byte
}

// BeginUpload makes a document for a file. The caller ends it by Finish or Abandon.
func (s *Store) BeginUpload(ctx context.Context, user ids.UserID, base, fileName, fileType string) (*Upload, error) {
	u := &Upload{s: s, user: user, base: base, id: newID("doc_")}
	err := s.write(ctx, func(t *transaction) error {
		b, err := t.base(user, base, "")
		if err != nil {
			return err
		}
		var documents int
		var bytes int64
		if err := t.row(`SELECT count(*), COALESCE(sum(file_size), 0) FROM kb_documents WHERE user_id = ?`, []any{string(user)}, &documents, &bytes); err != nil {
			return err
		}
		if q := s.quota; q.Documents > 0 && documents >= q.Documents || q.Bytes > 0 && bytes >= q.Bytes {
			return errs.New(errs.StorageFull, "your knowledge bases hold %d documents of %d bytes in all, which is as much as there may be", documents, bytes)
		}
		err = t.row(`SELECT num FROM kb_documents WHERE id = ?`, []any{u.id}, &u.num)
		if !errors.Is(err, sql.ErrNoRows) {
			return err // an attempt whose answer was lost, or an outage
		}
		return t.row(`INSERT INTO kb_documents (id, base_num, user_id, file_name, file_type, status, created_at, updated_at)
			VALUES (?, ?, ?, ?, ?, 'uploading', {now}, {now}) RETURNING num`, []any{u.id, b.num, string(user), fileName, fileType}, &u.num)
	})
	return u, err
}

// Size is how many bytes have come.
func (u *Upload) Size() int64 { return u.size }

// Write adds bytes.
func (u *Upload) Write(ctx context.Context, data []byte) error {
	u.size += int64(len(data))
	u.buffer = append(u.buffer, data...)
	for len(u.buffer) >= partSize {
		if err := u.flush(ctx, u.buffer[:partSize]); err != nil {
			return err
		}
		u.buffer = append(u.buffer[:0], u.buffer[partSize:]...)
	}
	return nil
}

func (u *Upload) flush(ctx context.Context, data []byte) error {
	err := u.s.write(ctx, func(t *transaction) error {
		if _, err := t.exec(`DELETE FROM kb_parts WHERE document_num = ? AND part = ?`, u.num, u.parts); err != nil {
			return err
		}
		// A base that is deleted meanwhile takes the document with it.
		n, err := t.exec(`UPDATE kb_documents SET file_size = ?, updated_at = {now} WHERE num = ?`, u.size, u.num)
		if err == nil && n == 0 {
			return NoBase(u.base)
		}
		if err == nil {
			_, err = t.exec(`INSERT INTO kb_parts (document_num, part, data) VALUES (?, ?, ?)`, u.num, u.parts, data)
		}
		return err
	})
	u.parts++
	return err
}

// Finish shows the document, and queues it where process says so.
func (u *Upload) Finish(ctx context.Context, process bool) (d Document, err error) {
	if len(u.buffer) > 0 {
		if err := u.flush(ctx, u.buffer); err != nil {
			return d, err
		}
	}
	status := Pending
	if process {
		status = Processing
	}
	err = u.s.write(ctx, func(t *transaction) error {
		n, err := t.exec(`UPDATE kb_documents SET status = ?, file_size = ?, updated_at = {now}, queued_at = {now}, due_at = {now}
			WHERE num = ? AND status = 'uploading'`, string(status), u.size, u.num)
		if err != nil {
			return err
		}
		d, err = t.document(u.user, u.base, u.id)
		if n == 0 && errors.Is(err, errs.DocumentNotFound) {
			return NoBase(u.base)
		}
		return err
	})
	return d, err
}

// Abandon removes an upload that broke off.
func (u *Upload) Abandon(ctx context.Context) error {
	return u.s.write(ctx, func(t *transaction) error {
		_, err := t.exec(`DELETE FROM kb_documents WHERE num = ? AND status = 'uploading'`, u.num)
		return err
	})
}

// SweepUploads removes those whose pod died.
func (s *Store) SweepUploads(ctx context.Context) error {
	return s.write(ctx, func(t *transaction) error {
		_, err := t.exec(`DELETE FROM kb_documents WHERE status = 'uploading' AND updated_at < {now} - ?`, abandoned.Milliseconds())
		return err
	})
}

// CopyFile writes a document's bytes, one part after the other.
func (s *Store) CopyFile(ctx context.Context, d Document, to io.Writer) error {
	for part := 0; ; part++ {
		var data []byte
		err := s.read(ctx, func(t *transaction) error {
			return t.row(`SELECT data FROM kb_parts WHERE document_num = ? AND part = ?`, []any{d.num, part}, &data)
		})
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := to.Write(data); err != nil {
			return err
		}
	}
}
