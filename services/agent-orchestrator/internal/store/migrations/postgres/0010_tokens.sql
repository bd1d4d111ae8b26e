-- +goose Up

-- Tokens that users have made for their programs, by hash. A row that is gone was revoked.
CREATE TABLE user_tokens (
    id      text NOT NULL PRIMARY KEY,
    user_id text NOT NULL,
    name    text NOT NULL,
    hash    bytea NOT NULL,
    scopes  text NOT NULL, -- a list in JSON
    nodes   text NOT NULL, -- likewise; empty for all nodes
    created bigint NOT NULL,
    expires bigint NOT NULL
);
CREATE INDEX user_tokens_user ON user_tokens (user_id, created);
