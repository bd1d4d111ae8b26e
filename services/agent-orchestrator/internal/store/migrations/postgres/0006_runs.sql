-- +goose Up

-- The active runs are counted by user, and looked through whoever's they are. Still without lease_until, so that renewing a
-- lease touches no index.
DROP INDEX sessions_running;
CREATE INDEX sessions_running ON sessions (user_id) WHERE status = 'running';
