-- +goose Up

-- What a sub-agent does belongs to the call that it does: '' for the user's own conversation.
ALTER TABLE messages ADD COLUMN parent text NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN parent text NOT NULL DEFAULT '';

CREATE INDEX messages_by_parent ON messages (session, parent, idx) WHERE parent <> '';
CREATE INDEX calls_by_parent ON calls (session, parent) WHERE parent <> '';
