-- +goose Up

-- What MCP clients call the tools of devices. A row is never changed: a name means one tool for ever.
CREATE TABLE tool_names (
    user_id text NOT NULL,
    name    text NOT NULL,
    node    text NOT NULL,
    tool    text NOT NULL, -- its name at the node
    PRIMARY KEY (user_id, name)
) WITHOUT ROWID;
