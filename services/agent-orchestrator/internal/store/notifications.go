package store

import (
	"context"
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Notification is what a user is told of a scheduled task.
type Notification struct {
	ID      string // chosen by the caller
	User    ids.UserID
	Task    string
	Title   string
	Status  FiringStatus
	Message string
	Session ids.SessionID
	Read    bool
	Created time.Time
	// Shown says that it is listed; else it only goes to its channels.
	Shown bool
	// Channels are those to which it is sent.
	Channels []string
}

// MaxNotifications is how many a user's list keeps.
const MaxNotifications = 500

// tell returns the statements that store a notification, and forget the user's oldest.
func tell(n Notification) []statement {
	out := []statement{{
		sql: `INSERT INTO notifications (id, user_id, task, title, status, message, session_id, read, shown, created) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?)`,
		args: []any{
			n.ID, string(n.User), n.Task, plain(n.Title), string(n.Status), plain(n.Message), string(n.Session), number(n.Shown), millis(n.Created),
		},
	}, {
		sql: `DELETE FROM notifications WHERE user_id = ? AND shown = 1 AND (created, id) <= (SELECT created, id FROM notifications
			WHERE user_id = ? AND shown = 1 ORDER BY created DESC, id DESC LIMIT 1 OFFSET ?)`,
		args: []any{string(n.User), string(n.User), MaxNotifications},
	}}
	for _, channel := range n.Channels {
		out = append(out, statement{
			sql: `INSERT INTO deliveries (notification, channel, attempts, due) VALUES (?, ?, 0, 0)`, args: []any{n.ID, channel},
		})
	}
	return out
}

const notificationColumns = `SELECT n.id, n.user_id, n.task, n.title, n.status, n.message, n.session_id, n.read, n.shown, n.created`

func scanNotification(scan func(...any) error, more ...any) (Notification, error) {
	var n Notification
	var user, status, session string
	var read, shown, created int64
	err := scan(append([]any{&n.ID, &user, &n.Task, &n.Title, &status, &n.Message, &session, &read, &shown, &created}, more...)...)
	n.User, n.Status, n.Session, n.Read, n.Shown = ids.UserID(user), FiringStatus(status), ids.SessionID(session), read != 0, shown != 0
	n.Created = moment(created)
	return n, err
}

// Notifications lists what a user was told, the last first, in pages as [Store.ScheduledTasks].
func (s *Store) Notifications(ctx context.Context, user ids.UserID, limit int, cursor string) (list []Notification, next string, err error) {
	condition, args, limit, err := page(` FROM notifications n WHERE n.user_id = ? AND n.shown = 1`, []any{string(user)}, "n.created", "n.id", limit, cursor)
	if err != nil {
		return nil, "", err
	}
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		list = nil
		return s.db.read(ctx, []statement{{sql: notificationColumns + condition, args: args, row: func(scan func(...any) error) error {
			n, err := scanNotification(scan)
			list = append(list, n)
			return err
		}}})
	})
	if len(list) > limit {
		list = list[:limit]
		next = after{millis(list[limit-1].Created), list[limit-1].ID}.cursor()
	}
	return list, next, err
}

// ReadNotification marks one as read. Errors: [errs.NotificationNotFound].
func (s *Store) ReadNotification(ctx context.Context, user ids.UserID, id string) error {
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		err := s.db.write(ctx, []statement{{
			sql: `UPDATE notifications SET read = 1 WHERE id = ? AND user_id = ? AND shown = 1`, args: []any{plain(id), string(user)}, must: 1,
		}})
		if errors.Is(err, errUnmet) {
			return errs.New(errs.NotificationNotFound, "there is no notification %q", id)
		}
		return err
	})
}

// Delivery is a notification that is to be sent.
type Delivery struct {
	Notification
	Channel  string
	Attempts int
}

// ClaimDeliveries returns at most limit of those that are due. For hold no other pod gets them.
func (s *Store) ClaimDeliveries(ctx context.Context, hold time.Duration, limit int) (list []Delivery, err error) {
	const due = ` FROM deliveries WHERE due < (SELECT {now})`
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		list = nil
		var n int64
		err := s.db.read(ctx, []statement{{sql: `SELECT count(*)` + due, row: func(scan func(...any) error) error { return scan(&n) }}})
		if err != nil || n == 0 {
			return err
		}
		type key struct{ notification, channel string }
		claimed := map[key]int{}
		named := []any{}
		err = s.db.write(ctx, []statement{{
			sql: `WITH late AS MATERIALIZED (SELECT notification AS late_id, channel AS late_channel` + due + ` ORDER BY due LIMIT ? {skip locked})
				UPDATE deliveries SET due = {now} + ?, attempts = attempts + 1 FROM late WHERE notification = late_id AND channel = late_channel
				RETURNING notification, channel, attempts`,
			args: []any{limit, hold.Milliseconds()},
			row: func(scan func(...any) error) error {
				var k key
				var attempts int64
				err := scan(&k.notification, &k.channel, &attempts)
				claimed[k] = int(attempts)
				named = append(named, k.notification)
				return err
			},
		}})
		if err != nil || len(named) == 0 {
			return err
		}
		return s.db.read(ctx, []statement{{
			sql:  notificationColumns + `, d.channel FROM notifications n JOIN deliveries d ON d.notification = n.id WHERE n.id IN (` + marks(len(named)) + `)`,
			args: named,
			row: func(scan func(...any) error) error {
				var d Delivery
				var err error
				d.Notification, err = scanNotification(scan, &d.Channel)
				if attempts, ok := claimed[key{d.ID, d.Channel}]; ok {
					d.Attempts = attempts
					list = append(list, d)
				}
				return err
			},
		}})
	})
	return list, err
}

// Delivered says that a delivery has arrived, or that it is given up. It is forgotten, and so is its notification where it was for this alone.
func (s *Store) Delivered(ctx context.Context, d Delivery) error {
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		return s.db.write(ctx, []statement{
			{sql: `DELETE FROM deliveries WHERE notification = ? AND channel = ?`, args: []any{d.ID, d.Channel}},
			{
				sql:  `DELETE FROM notifications WHERE id = ? AND shown = 0 AND NOT EXISTS (SELECT 1 FROM deliveries WHERE notification = ?)`,
				args: []any{d.ID, d.ID},
			},
		})
	})
}

// DeliverLater has a delivery tried again after a while.
func (s *Store) DeliverLater(ctx context.Context, d Delivery, wait time.Duration) error {
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		return s.db.write(ctx, []statement{{
			sql: `UPDATE deliveries SET due = {now} + ? WHERE notification = ? AND channel = ?`, args: []any{wait.Milliseconds(), d.ID, d.Channel},
		}})
	})
}
