-- +goose Up

-- What users' agents remember. A row that is gone was forgotten.
CREATE TABLE memories (
    user_id    text NOT NULL,
    id         text NOT NULL,
    scope      text NOT NULL,
    project_id text NOT NULL,
    session_id text NOT NULL,
    type       text NOT NULL,
    content    text NOT NULL,
    sum        text NOT NULL, -- of what the content says: the same is remembered once in a scope
    source     text NOT NULL,
    said_in    text NOT NULL, -- the session, '' for none
    created    bigint NOT NULL,
    updated    bigint NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE UNIQUE INDEX memories_once ON memories (user_id, scope, project_id, session_id, sum);

-- Users who have an allow-list get the tool that only searches, as new users do.
INSERT INTO allowed_tools SELECT user_id, '', '', 'search_memory', '' FROM allowed_tools WHERE layer = '' AND tool = 'read_todos' ON CONFLICT DO NOTHING;
