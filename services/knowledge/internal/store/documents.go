package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

func noDocument(id string) error {
	return errs.New(errs.DocumentNotFound, "there is no document %s", id)
}

const documentColumns = `d.num, d.base_num, d.id, b.id, d.user_id, d.file_name, d.file_type, d.file_size, d.status, d.chunks, COALESCE(d.error, ''),
	d.progress, d.created_at, d.updated_at`

const fromDocuments = ` FROM kb_documents d JOIN kb_bases b ON b.num = d.base_num `

func scanDocument(scan func(...any) error) (d Document, err error) {
	var created, updated int64
	var user string
	err = scan(&d.num, &d.baseNum, &d.ID, &d.Base, &user, &d.FileName, &d.FileType, &d.Size, &d.Status, &d.Chunks, &d.Error, &d.Progress, &created, &updated)
	d.User, d.Created, d.Updated = ids.UserID(user), moment(created), moment(updated)
	return d, err
}

// document reads one document of a user; base is "" for any.
func (t *transaction) document(user ids.UserID, base, id string) (Document, error) {
	if base != "" {
		if _, err := t.base(user, base, ""); err != nil {
			return Document{}, err
		}
	}
	d, err := scanDocument(t.QueryRowContext(t.ctx, t.d.text(`SELECT `+documentColumns+fromDocuments+
		`WHERE d.id = ? AND d.user_id = ? AND (b.id = ? OR ? = '') AND d.status <> 'uploading'`), id, string(user), base, base).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return d, noDocument(id)
	}
	return d, err
}

// Document returns one.
func (s *Store) Document(ctx context.Context, user ids.UserID, base, id string) (d Document, err error) {
	err = s.read(ctx, func(t *transaction) error {
		d, err = t.document(user, base, id)
		return err
	})
	return d, err
}

// Documents lists those of a base, oldest first, as [Store.Bases] does.
func (s *Store) Documents(ctx context.Context, user ids.UserID, base string, limit int, cursor int64) (list []Document, total int, next int64, err error) {
	err = s.read(ctx, func(t *transaction) error {
		list, next = nil, 0
		b, err := t.base(user, base, "")
		if err != nil {
			return err
		}
		total = b.Documents
		return t.rows(`SELECT `+documentColumns+fromDocuments+`WHERE d.base_num = ? AND d.num > ? AND d.status <> 'uploading' ORDER BY d.num LIMIT ?`,
			[]any{b.num, cursor, limit + 1}, func(scan func(...any) error) error {
				d, err := scanDocument(scan)
				if len(list) == limit {
					next = list[limit-1].num
					return err
				}
				list = append(list, d)
				return err
			})
	})
	return list, total, next, err
}

// Process queues a document that is pending or has failed; DOCUMENT_BUSY if it is neither.
func (s *Store) Process(ctx context.Context, user ids.UserID, base, id string) (d Document, err error) {
	before := false
	err = s.write(ctx, func(t *transaction) error {
		if d, err = t.document(user, base, id); err != nil {
			return err
		}
		n, err := t.exec(`UPDATE kb_documents SET status = 'processing', error = NULL, progress = 0, attempts = 0, queued_at = {now}, due_at = {now},
			claimed_until = 0, token = token + 1, updated_at = {now} WHERE num = ? AND status IN ('pending', 'failed')`, d.num)
		if err != nil {
			return err
		}
		if n == 0 && !before {
			return errs.New(errs.DocumentBusy, "the document is %s: only one that is pending or has failed can be processed", d.Status)
		}
		before = true
		d, err = t.document(user, base, id)
		return err
	})
	return d, err
}

// DeleteDocument deletes a document from every index. A worker that is at it writes nothing any more.
func (s *Store) DeleteDocument(ctx context.Context, user ids.UserID, base, id string) error {
	before := false // an attempt whose answer was lost
	return s.write(ctx, func(t *transaction) error {
		b, err := t.base(user, base, "{for update}") // first, as whoever indexes a document does
		if err != nil {
			return err
		}
		d, err := t.document(user, base, id)
		if errors.Is(err, errs.DocumentNotFound) && before {
			return nil
		}
		if err != nil {
			return err
		}
		before = true
		if err := s.unindex(t, d); err != nil {
			return err
		}
		for _, statement := range []string{`DELETE FROM kb_parts WHERE document_num = ?`, `DELETE FROM kb_documents WHERE num = ?`} {
			if _, err := t.exec(statement, d.num); err != nil {
				return err
			}
		}
		_, err = t.exec(`UPDATE kb_bases SET updated_at = {now} WHERE num = ?`, b.num)
		return err
	})
}

// unindex removes a document from the index; the caller has locked the base.
func (s *Store) unindex(t *transaction, d Document) error {
	first, last := chunkID(d.num, 0), chunkID(d.num+1, 0)-1
	var chunks, terms int64
	if err := t.row(`SELECT count(*) FROM kb_chunks WHERE document_num = ?`, []any{d.num}, &chunks); err != nil || chunks == 0 {
		return err
	}
	if err := t.row(`SELECT COALESCE(sum(times), 0) FROM kb_postings WHERE chunk_id BETWEEN ? AND ?`, []any{first, last}, &terms); err != nil {
		return err
	}
	for _, statement := range []string{
		`DELETE FROM kb_postings WHERE chunk_id BETWEEN ? AND ?`, `DELETE FROM ` + s.vectors.table() + ` WHERE chunk_id BETWEEN ? AND ?`,
		`DELETE FROM kb_chunks WHERE id BETWEEN ? AND ?`,
	} {
		if _, err := t.exec(statement, first, last); err != nil {
			return err
		}
	}
	_, err := t.exec(`UPDATE kb_bases SET chunks = chunks - ?, terms = terms - ? WHERE num = ?`, chunks, terms, d.baseNum)
	return err
}

// Chunks lists those of a document, in order. cursor is the index of the first.
func (s *Store) Chunks(ctx context.Context, user ids.UserID, base, id string, limit, cursor int) (list []Chunk, d Document, err error) {
	err = s.read(ctx, func(t *transaction) error {
		list = nil
		if d, err = t.document(user, base, id); err != nil {
			return err
		}
		return t.rows(`SELECT content, page, headings, repeated FROM kb_chunks WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?`,
			[]any{chunkID(d.num, min(cursor, MaxChunks-1)), chunkID(d.num+1, 0) - 1, limit}, func(scan func(...any) error) error {
				c, err := scanChunk(scan)
				list = append(list, c)
				return err
			})
	})
	return list, d, err
}

func scanChunk(scan func(...any) error, more ...any) (c Chunk, err error) {
	var headings string
	if err = scan(append(more, &c.Content, &c.Page, &headings, &c.Repeated)...); err != nil {
		return c, err
	}
	return c, json.Unmarshal([]byte(headings), &c.Headings)
}
