-- +goose Up

-- One row per session. It is small and changes with every step of a run: what is large or seldom changes is in details.
-- No other table has a foreign key to it: whatever is written about a session is written by a transaction that has
-- changed this row first, and so holds its lock; checking again for every row would cost more than the row.
--
-- Times are milliseconds since 1970. Blobs (bytea) hold what others wrote, because text cannot hold every byte.
CREATE TABLE sessions (
    id            bigint   PRIMARY KEY, -- time and chance; never used twice
    user_id       text     NOT NULL,
    session_id    text     NOT NULL,
    title         text     NOT NULL,
    status        text     NOT NULL, -- idle, running, interrupted
    mode          text     NOT NULL,
    run_id        text     NOT NULL, -- the active run, or the last
    finish_reason text     NOT NULL,
    last_seq      bigint   NOT NULL, -- of the last event
    last_index    bigint   NOT NULL, -- of the last message
    covered       bigint   NOT NULL, -- the last message that a summary covers
    answer        bigint   NOT NULL, -- the last assistant message, while nothing but results follows it; else 0
    steps         bigint   NOT NULL,
    streaming     text     NOT NULL,
    cancel        smallint NOT NULL, -- 1: somebody asked for the run's end
    token         bigint   NOT NULL, -- of the lease; grows with each
    owner         text     NOT NULL,
    lease_until   bigint   NOT NULL,
    change        bigint   NOT NULL, -- names the last change: its writer can tell whether it was kept
    created       bigint   NOT NULL,
    updated       bigint   NOT NULL -- a message, a beginning or an end; not every piece of text
) WITH (fillfactor = 70); -- room to change a row in place

CREATE INDEX sessions_by_user ON sessions (user_id, updated DESC, id DESC);
-- After the other: of two that seem as good, as all do on an empty table, PostgreSQL takes the later one.
CREATE UNIQUE INDEX sessions_by_name ON sessions (user_id, session_id);

-- Without lease_until, so that renewing a lease touches no index.
CREATE INDEX sessions_running ON sessions (id) WHERE status = 'running';

CREATE TABLE details (
    session   bigint PRIMARY KEY,
    settings  bytea, -- sealed
    todos     bytea, -- JSON
    interrupt bytea  -- the last hecaton.agent.v1.Interrupt
);

CREATE TABLE messages (
    session bigint NOT NULL,
    idx     bigint NOT NULL,
    run_id  text   NOT NULL,
    role    text   NOT NULL,
    content bytea,
    calls   bytea, -- JSON
    call_id text   NOT NULL,
    tool    text   NOT NULL,
    covers  bigint NOT NULL,
    at      bigint NOT NULL,
    PRIMARY KEY (session, idx)
);

CREATE TABLE calls (
    session   bigint NOT NULL,
    id        text   NOT NULL,
    run_id    text   NOT NULL,
    message   bigint NOT NULL, -- the assistant message that asked for it
    position  bigint NOT NULL,
    tool      text   NOT NULL,
    args      bytea,
    state     text   NOT NULL,
    node      text   NOT NULL,
    node_mark text   NOT NULL,
    digest    text   NOT NULL,
    interrupt text   NOT NULL,
    decision  text   NOT NULL,
    reason    text   NOT NULL,
    expires   bigint NOT NULL, -- 0: nothing waits
    decided   bigint NOT NULL,
    PRIMARY KEY (session, id)
);

CREATE INDEX calls_by_message ON calls (session, message);

-- One row per change, however many events it has: see the framing in events.go.
CREATE TABLE events (
    session  bigint NOT NULL,
    last_seq bigint NOT NULL,
    run_id   text   NOT NULL,
    data     bytea  NOT NULL,
    PRIMARY KEY (session, last_seq)
);

-- Which run a request with an idempotency key has begun.
CREATE TABLE begun (
    user_id    text   NOT NULL,
    key        text   NOT NULL,
    session    bigint NOT NULL,
    session_id text   NOT NULL,
    run_id     text   NOT NULL,
    first_seq  bigint NOT NULL,
    PRIMARY KEY (user_id, key)
);

CREATE INDEX begun_by_session ON begun (session);

-- Also the lock on what a user has set up.
CREATE TABLE users (
    user_id text PRIMARY KEY,
    mode    text NOT NULL
);

CREATE TABLE allowlist (
    user_id text NOT NULL,
    tool    text NOT NULL,
    PRIMARY KEY (user_id, tool)
);

CREATE TABLE tools (
    user_id text     NOT NULL,
    id      text     NOT NULL,
    type    text     NOT NULL,
    name    text     NOT NULL,
    enabled smallint NOT NULL,
    config  bytea,
    secrets bytea, -- sealed
    created bigint   NOT NULL,
    updated bigint   NOT NULL,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, name)
);
