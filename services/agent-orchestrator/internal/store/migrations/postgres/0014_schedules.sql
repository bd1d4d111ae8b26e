-- +goose Up

-- What users have done at set times.
CREATE TABLE scheduled_tasks (
    id text NOT NULL PRIMARY KEY,
    user_id text NOT NULL,
    title text NOT NULL,
    prompt text NOT NULL,
    rule text NOT NULL, -- when it fires: JSON
    node_id text NOT NULL,
    run_mode text NOT NULL,
    notify text NOT NULL, -- a list in JSON
    run bytea, -- how its runs are begun: sealed
    state text NOT NULL, -- active, paused, completed, failed, cancelled
    next_run bigint NOT NULL, -- by the schedule's clock; 0: it does not fire
    revision bigint NOT NULL, -- grows with each change: who has read another one writes nothing
    claimed bigint NOT NULL, -- until when one pod looks after its firing
    created bigint NOT NULL,
    updated bigint NOT NULL
);
CREATE INDEX scheduled_tasks_by_user ON scheduled_tasks (user_id, created DESC, id DESC);
CREATE INDEX scheduled_tasks_due ON scheduled_tasks (next_run) WHERE next_run > 0;

-- One row for each firing.
CREATE TABLE scheduled_runs (
    id text NOT NULL PRIMARY KEY,
    task text NOT NULL,
    user_id text NOT NULL,
    fired_for bigint NOT NULL,
    session_id text NOT NULL,
    run_id text NOT NULL, -- '': it has not begun
    status text NOT NULL,
    error text NOT NULL,
    started bigint NOT NULL, -- 0: not yet
    finished bigint NOT NULL,
    claimed bigint NOT NULL, -- until when one pod begins it
    UNIQUE (task, fired_for)
);
CREATE INDEX scheduled_runs_open ON scheduled_runs (status, fired_for) WHERE status IN ('pending', 'running', 'interrupted');

CREATE TABLE notifications (
    id text NOT NULL PRIMARY KEY,
    user_id text NOT NULL,
    task text NOT NULL,
    title text NOT NULL,
    status text NOT NULL,
    message text NOT NULL,
    session_id text NOT NULL,
    read smallint NOT NULL,
    shown smallint NOT NULL, -- 0: it is for other channels only
    created bigint NOT NULL
);
CREATE INDEX notifications_by_user ON notifications (user_id, created DESC, id DESC);

-- Notifications on their way to where they are sent; a row that is gone has arrived, or was given up.
CREATE TABLE deliveries (
    notification text NOT NULL,
    channel text NOT NULL,
    attempts bigint NOT NULL,
    due bigint NOT NULL, -- when it is tried next
    PRIMARY KEY (notification, channel)
);
CREATE INDEX deliveries_due ON deliveries (due);
