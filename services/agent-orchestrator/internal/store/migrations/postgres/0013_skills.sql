-- +goose Up

-- The index of skills, with their texts; the other files are in the storage of files. The rows of skills that come with the
-- server say only what a user has set of them.
CREATE TABLE skills (
    user_id  text NOT NULL,
    name     text NOT NULL,
    bundled  integer NOT NULL,
    source   text NOT NULL,
    enabled  integer NOT NULL,
    priority integer NOT NULL,
    about    text NOT NULL, -- JSON
    body     text NOT NULL,
    files    text NOT NULL, -- JSON
    size     integer NOT NULL, -- of SKILL.md
    sum      text NOT NULL, -- of SKILL.md
    updated  bigint NOT NULL,
    PRIMARY KEY (user_id, name, bundled)
);

-- Who changes a user's skills, and until when at the latest: it takes several steps in two storages.
CREATE TABLE skill_locks (
    user_id text NOT NULL PRIMARY KEY,
    token   text NOT NULL,
    until   bigint NOT NULL
);

-- The skills that a run was given whole, as JSON.
ALTER TABLE details ADD COLUMN skills bytea;

-- Users who have an allow-list get the tools that only read skills, as new users do.
INSERT INTO allowed_tools SELECT user_id, '', '', 'load_skill', '' FROM allowed_tools WHERE layer = '' AND tool = 'read_todos' ON CONFLICT DO NOTHING;
INSERT INTO allowed_tools SELECT user_id, '', '', 'read_skill_file', '' FROM allowed_tools WHERE layer = '' AND tool = 'read_todos' ON CONFLICT DO NOTHING;
