-- +goose Up

-- For those who count what waits for people.
CREATE INDEX sessions_waiting ON sessions (updated) WHERE status = 'interrupted';
