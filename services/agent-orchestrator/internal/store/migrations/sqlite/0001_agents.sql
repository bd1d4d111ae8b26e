-- +goose Up

-- One row per session. It is small and changes with every step of a run: what is large or seldom changes is in details.
-- No other table has a foreign key to it: whatever is written about a session is written by a transaction that has
-- changed this row first, and so holds its lock; checking again for every row would cost more than the row.
--
-- Times are milliseconds since 1970. Blobs hold what others wrote, because text cannot hold every byte.
CREATE TABLE sessions (
    id            integer  PRIMARY KEY, -- time and chance; never used twice
    user_id       text     NOT NULL,
    session_id    text     NOT NULL,
    title         text     NOT NULL,
    status        text     NOT NULL, -- idle, running, interrupted
    mode          text     NOT NULL,
    run_id        text     NOT NULL, -- the active run, or the last
    finish_reason text     NOT NULL,
    last_seq      integer  NOT NULL, -- of the last event
    last_index    integer  NOT NULL, -- of the last message
    covered       integer  NOT NULL, -- the last message that a summary covers
    answer        integer  NOT NULL, -- the last assistant message, while nothing but results follows it; else 0
    steps         integer  NOT NULL,
    streaming     text     NOT NULL,
    cancel        integer  NOT NULL, -- 1: somebody asked for the run's end
    token         integer  NOT NULL, -- of the lease; grows with each
    owner         text     NOT NULL,
    lease_until   integer  NOT NULL,
    change        integer  NOT NULL, -- names the last change: its writer can tell whether it was kept
    created       integer  NOT NULL,
    updated       integer  NOT NULL, -- a message, a beginning or an end; not every piece of text
    UNIQUE (user_id, session_id)
);

CREATE INDEX sessions_by_user ON sessions (user_id, updated DESC, id DESC);

-- Without lease_until, so that renewing a lease touches no index.
CREATE INDEX sessions_running ON sessions (id) WHERE status = 'running';

CREATE TABLE details (
    session   integer PRIMARY KEY,
    settings  blob, -- sealed
    todos     blob, -- JSON
    interrupt blob -- the last hecaton.agent.v1.Interrupt
);

CREATE TABLE messages (
    session integer NOT NULL,
    idx     integer NOT NULL,
    run_id  text   NOT NULL,
    role    text   NOT NULL,
    content blob,
    calls   blob, -- JSON
    call_id text   NOT NULL,
    tool    text   NOT NULL,
    covers  integer NOT NULL,
    at      integer NOT NULL,
    PRIMARY KEY (session, idx)
) WITHOUT ROWID;

CREATE TABLE calls (
    session   integer NOT NULL,
    id        text   NOT NULL,
    run_id    text   NOT NULL,
    message   integer NOT NULL, -- the assistant message that asked for it
    position  integer NOT NULL,
    tool      text   NOT NULL,
    args      blob,
    state     text   NOT NULL,
    node      text   NOT NULL,
    node_mark text   NOT NULL,
    digest    text   NOT NULL,
    interrupt text   NOT NULL,
    decision  text   NOT NULL,
    reason    text   NOT NULL,
    expires   integer NOT NULL, -- 0: nothing waits
    decided   integer NOT NULL,
    PRIMARY KEY (session, id)
) WITHOUT ROWID;

CREATE INDEX calls_by_message ON calls (session, message);

-- One row per change, however many events it has: see the framing in events.go.
CREATE TABLE events (
    session  integer NOT NULL,
    last_seq integer NOT NULL,
    run_id   text   NOT NULL,
    data     blob    NOT NULL,
    PRIMARY KEY (session, last_seq)
) WITHOUT ROWID;

-- Which run a request with an idempotency key has begun.
CREATE TABLE begun (
    user_id    text   NOT NULL,
    key        text   NOT NULL,
    session    integer NOT NULL,
    session_id text   NOT NULL,
    run_id     text   NOT NULL,
    first_seq  integer NOT NULL,
    PRIMARY KEY (user_id, key)
) WITHOUT ROWID;

CREATE INDEX begun_by_session ON begun (session);

-- Also the lock on what a user has set up.
CREATE TABLE users (
    user_id text PRIMARY KEY,
    mode    text NOT NULL
) WITHOUT ROWID;

CREATE TABLE allowlist (
    user_id text NOT NULL,
    tool    text NOT NULL,
    PRIMARY KEY (user_id, tool)
) WITHOUT ROWID;

CREATE TABLE tools (
    user_id text     NOT NULL,
    id      text     NOT NULL,
    type    text     NOT NULL,
    name    text     NOT NULL,
    enabled integer  NOT NULL,
    config  blob,
    secrets blob, -- sealed
    created integer  NOT NULL,
    updated integer  NOT NULL,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, name)
) WITHOUT ROWID;
