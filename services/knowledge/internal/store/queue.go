package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Claim is a document that a worker may work on until the claim ends.
type Claim struct {
	Document
	// Attempts is how many workers have begun it since it was queued, this one included.
	Attempts int
	// Waited is how long ago it was queued.
	Waited time.Duration

	token int64
}

// ErrLost says that a claim is no longer in force: the document was deleted, or another worker has it. Nothing was changed.
var ErrLost = errors.New("store: the claim on the document is lost")

// Claim takes the next document that is due for at least ttl: one to be processed, or one whose vectors another model made. It
// returns nil where there is none. Users take turns: whoever has fewer documents in work comes first.
func (s *Store) Claim(ctx context.Context, model string, ttl time.Duration) (c *Claim, err error) {
	err = s.write(ctx, func(t *transaction) error {
		c = nil
		var num int64
		err := t.row(`SELECT d.num FROM kb_documents d
			WHERE d.status = 'processing' AND d.claimed_until < {now} AND d.due_at <= {now}
			ORDER BY (SELECT count(*) FROM kb_documents o WHERE o.status = 'processing' AND o.user_id = d.user_id AND o.claimed_until >= {now}), d.due_at, d.num
			LIMIT 1 {skip locked}`, nil, &num)
		if errors.Is(err, sql.ErrNoRows) {
			err = t.row(`SELECT d.num FROM kb_documents d
				WHERE d.status = 'completed' AND (d.model < ? OR d.model > ?) AND d.claimed_until < {now} AND d.due_at <= {now}
				LIMIT 1 {skip locked}`, []any{model, model}, &num)
		}
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		c = &Claim{}
		var queued, now int64
		if err := t.row(`UPDATE kb_documents SET token = token + 1, claimed_until = {now} + ?, attempts = attempts + 1 WHERE num = ?
			RETURNING token, attempts, queued_at, {now}`, []any{ttl.Milliseconds(), num}, &c.token, &c.Attempts, &queued, &now); err != nil {
			return err
		}
		c.Waited = time.Duration(now-queued) * time.Millisecond
		c.Document, err = scanDocument(t.QueryRowContext(t.ctx, t.d.text(`SELECT `+documentColumns+fromDocuments+`WHERE d.num = ?`), num).Scan)
		return err
	})
	return c, err
}

// held holds for the document of a claim that is in force.
const held = ` WHERE num = ? AND token = ? AND status IN ('processing', 'completed')`

// under runs a statement that ends with held.
func (t *transaction) under(c *Claim, statement string, args ...any) error {
	n, err := t.exec(statement+held, append(args, c.num, c.token)...)
	if err == nil && n == 0 {
		return ErrLost
	}
	return err
}

// Renew prolongs a claim to ttl from now, and says how far the work is, from 0 to 1.
func (s *Store) Renew(ctx context.Context, c *Claim, ttl time.Duration, progress float64) error {
	return s.write(ctx, func(t *transaction) error {
		return t.under(c, `UPDATE kb_documents SET claimed_until = {now} + ?, progress = ?`, ttl.Milliseconds(), progress)
	})
}

// Postpone gives a claim up until after a pause; problem is what the document waits for.
func (s *Store) Postpone(ctx context.Context, c *Claim, pause time.Duration, problem string) error {
	return s.write(ctx, func(t *transaction) error {
		return t.under(c, `UPDATE kb_documents SET claimed_until = 0, token = token + 1, attempts = 0, due_at = {now} + ?, error = ?, updated_at = {now}`,
			pause.Milliseconds(), problem)
	})
}

// Release gives a claim up as if it had never been: its pod stops.
func (s *Store) Release(ctx context.Context, c *Claim) error {
	return s.write(ctx, func(t *transaction) error {
		return t.under(c, `UPDATE kb_documents SET claimed_until = 0, token = token + 1, attempts = attempts - 1`)
	})
}

// Fail ends the processing of a document for good.
func (s *Store) Fail(ctx context.Context, c *Claim, reason string) (d Document, err error) {
	err = s.write(ctx, func(t *transaction) error {
		if err := t.under(c, `UPDATE kb_documents SET status = 'failed', error = ?, claimed_until = 0, token = token + 1, updated_at = {now}`, reason); err != nil {
			return err
		}
		d, err = t.document(c.User, c.Base, c.ID)
		return err
	})
	return d, err
}

// Depths of the queue: documents that wait for a worker, and those that a worker has.
func (s *Store) Depths(ctx context.Context) (waiting, claimed int, err error) {
	err = s.read(ctx, func(t *transaction) error {
		return t.row(`SELECT COALESCE(sum(CASE WHEN claimed_until < {now} THEN 1 ELSE 0 END), 0), COALESCE(sum(CASE WHEN claimed_until < {now} THEN 0 ELSE 1 END), 0)
			FROM kb_documents WHERE status = 'processing'`, nil, &waiting, &claimed)
	})
	return waiting, claimed, err
}
