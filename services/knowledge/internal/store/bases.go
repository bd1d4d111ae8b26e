package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// NoBase is the error of a base that is not there, or is another user's.
func NoBase(id string) error {
	return errs.New(errs.KnowledgeBaseNotFound, "there is no knowledge base %s", id)
}

const baseColumns = `b.num, b.id, b.name, b.description, b.created_at, b.updated_at,
	(SELECT count(*) FROM kb_documents d WHERE d.base_num = b.num AND d.status <> 'uploading')`

func scanBase(scan func(...any) error) (b Base, err error) {
	var created, updated int64
	err = scan(&b.num, &b.ID, &b.Name, &b.Description, &created, &updated, &b.Documents)
	b.Created, b.Updated = moment(created), moment(updated)
	return b, err
}

// CreateBase makes a base. The user's quota of them is STORAGE_FULL.
func (s *Store) CreateBase(ctx context.Context, user ids.UserID, name, description string) (b Base, err error) {
	id := newID("kb_")
	err = s.write(ctx, func(t *transaction) error {
		if b, err = t.base(user, id, ""); err == nil {
			return nil // an attempt whose answer was lost
		}
		var n int
		if err := t.row(`SELECT count(*) FROM kb_bases WHERE user_id = ?`, []any{string(user)}, &n); err != nil {
			return err
		}
		if s.quota.Bases > 0 && n >= s.quota.Bases {
			return errs.New(errs.StorageFull, "you have %d knowledge bases, which is as many as there may be", n)
		}
		if _, err := t.exec(`INSERT INTO kb_bases (id, user_id, name, description, created_at, updated_at) VALUES (?, ?, ?, ?, {now}, {now})`,
			id, string(user), name, description); err != nil {
			return err
		}
		b, err = t.base(user, id, "")
		return err
	})
	return b, err
}

// base reads one base of a user. lock is "{for update}" or "".
func (t *transaction) base(user ids.UserID, id, lock string) (Base, error) {
	b, err := scanBase(t.QueryRowContext(t.ctx, t.d.text(
		`SELECT `+baseColumns+` FROM kb_bases b WHERE b.id = ? AND b.user_id = ? `+lock), id, string(user)).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return b, NoBase(id)
	}
	return b, err
}

// Base returns one.
func (s *Store) Base(ctx context.Context, user ids.UserID, id string) (b Base, err error) {
	err = s.read(ctx, func(t *transaction) error {
		b, err = t.base(user, id, "")
		return err
	})
	return b, err
}

// Bases lists a user's bases, oldest first; only those of some ids, if there are any. cursor is that of the page before, 0 for the
// first page; next is 0 after the last.
func (s *Store) Bases(ctx context.Context, user ids.UserID, only []string, limit int, cursor int64) (list []Base, total int, next int64, err error) {
	where, args := ` FROM kb_bases b WHERE b.user_id = ?`, []any{string(user)}
	if len(only) > 0 {
		where += ` AND b.id IN (` + marks(len(only)) + `)`
		args = append(args, arguments(only)...)
	}
	err = s.read(ctx, func(t *transaction) error {
		list, next = nil, 0
		if err := t.row(`SELECT count(*)`+where, args, &total); err != nil {
			return err
		}
		return t.rows(`SELECT `+baseColumns+where+` AND b.num > ? ORDER BY b.num LIMIT ?`, append(args[:len(args):len(args)], cursor, limit+1),
			func(scan func(...any) error) error {
				b, err := scanBase(scan)
				if len(list) == limit {
					next = list[limit-1].num
					return err
				}
				list = append(list, b)
				return err
			})
	})
	return list, total, next, err
}

// CheckBases fails with KNOWLEDGE_BASE_NOT_FOUND where one of them is not the user's.
func (s *Store) CheckBases(ctx context.Context, user ids.UserID, list []string) error {
	return s.read(ctx, func(t *transaction) error {
		_, err := t.baseNums(user, list)
		return err
	})
}

// baseNums returns the numbers of bases; of all the user's where none is named.
func (t *transaction) baseNums(user ids.UserID, list []string) ([]int64, error) {
	query, args := `SELECT id, num FROM kb_bases WHERE user_id = ?`, []any{string(user)}
	if len(list) > 0 {
		query += ` AND id IN (` + marks(len(list)) + `)`
		args = append(args, arguments(list)...)
	}
	found := map[string]bool{}
	var nums []int64
	if err := t.rows(query+` ORDER BY num`, args, func(scan func(...any) error) error {
		var id string
		var num int64
		err := scan(&id, &num)
		found[id] = true
		nums = append(nums, num)
		return err
	}); err != nil {
		return nil, err
	}
	for _, id := range list {
		if !found[id] {
			return nil, NoBase(id)
		}
	}
	return nums, nil
}

// UpdateBase changes what is not nil.
func (s *Store) UpdateBase(ctx context.Context, user ids.UserID, id string, name, description *string) (b Base, err error) {
	err = s.write(ctx, func(t *transaction) error {
		if _, err := t.exec(`UPDATE kb_bases SET name = COALESCE(?, name), description = COALESCE(?, description), updated_at = {now}
			WHERE id = ? AND user_id = ?`, name, description, id, string(user)); err != nil {
			return err
		}
		b, err = t.base(user, id, "")
		return err
	})
	return b, err
}

// DeleteBase deletes a base with all that is in it.
func (s *Store) DeleteBase(ctx context.Context, user ids.UserID, id string) error {
	before := false // an attempt whose answer was lost
	return s.write(ctx, func(t *transaction) error {
		b, err := t.base(user, id, "{for update}")
		if errors.Is(err, errs.KnowledgeBaseNotFound) && before {
			return nil
		}
		if err != nil {
			return err
		}
		before = true
		for _, statement := range []string{
			`DELETE FROM kb_postings WHERE base_num = ?`, `DELETE FROM ` + s.vectors.table() + ` WHERE base_num = ?`,
			`DELETE FROM kb_chunks WHERE document_num IN (SELECT num FROM kb_documents WHERE base_num = ?)`,
			`DELETE FROM kb_parts WHERE document_num IN (SELECT num FROM kb_documents WHERE base_num = ?)`,
			`DELETE FROM kb_documents WHERE base_num = ?`, `DELETE FROM kb_bases WHERE num = ?`,
		} {
			if _, err := t.exec(statement, b.num); err != nil {
				return err
			}
		}
		return nil
	})
}
