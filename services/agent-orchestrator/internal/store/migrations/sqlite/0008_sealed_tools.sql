-- +goose Up

-- Whether a tool may have more in clear than it has to: those of the version before, until they are sealed.
ALTER TABLE tools ADD COLUMN in_clear smallint NOT NULL DEFAULT 1;
CREATE INDEX tools_in_clear ON tools (user_id, id) WHERE in_clear = 1;
