-- +goose Up

-- Single calls of MCP clients about which a person has to decide, or has. A row goes some time after it has expired.
CREATE TABLE call_approvals (
    id       text NOT NULL PRIMARY KEY,
    user_id  text NOT NULL,
    digest   text NOT NULL, -- of tool, arguments and device
    state    text NOT NULL, -- waiting, approved, rejected or used
    mark     text NOT NULL, -- of the change that led to the state
    tool     text NOT NULL,
    node     text NOT NULL,
    args     text NOT NULL, -- as they are shown
    args_cut integer NOT NULL,
    why      text NOT NULL,
    reason   text NOT NULL, -- of a rejection
    created  integer NOT NULL,
    expires  integer NOT NULL
);
CREATE INDEX call_approvals_user ON call_approvals (user_id, digest);
