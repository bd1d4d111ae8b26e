-- +goose Up

-- Calls of MCP clients that come back for the answer. A row goes some time after it has expired.
CREATE TABLE call_tasks (
    id      text NOT NULL PRIMARY KEY,
    user_id text NOT NULL,
    owner   text NOT NULL, -- what began it: the name of a token
    node    text NOT NULL,
    status  text NOT NULL, -- working, input_required, completed, cancelled or lost
    message text NOT NULL,
    sent    bigint NOT NULL, -- 1 where the call may have reached its tool
    input   bytea NOT NULL, -- JSON
    result  bytea NOT NULL, -- JSON
    size    bigint NOT NULL, -- of the result
    created bigint NOT NULL,
    updated bigint NOT NULL,
    kept    bigint NOT NULL, -- when its gateway last said that it has it
    expires bigint NOT NULL
);
CREATE INDEX call_tasks_user ON call_tasks (user_id);
