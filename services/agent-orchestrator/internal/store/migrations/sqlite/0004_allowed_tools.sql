-- +goose Up

-- Instead of allowlist, which stays for pods of the release before: a tool is allowed where it comes from, and as it was.
CREATE TABLE allowed_tools (
    user_id     text NOT NULL,
    layer       text NOT NULL, -- '': a name alone
    source      text NOT NULL, -- node, MCP server or OAuth provider
    tool        text NOT NULL,
    fingerprint text NOT NULL, -- '': nobody has seen the tool since it was allowed
    PRIMARY KEY (user_id, layer, source, tool)
) WITHOUT ROWID;

INSERT INTO allowed_tools SELECT user_id, '', '', tool, '' FROM allowlist;

-- A name stands for the nodes on which the tool has run.
INSERT INTO allowed_tools
SELECT DISTINCT a.user_id, 'connector', c.node, a.tool, ''
FROM allowlist a JOIN sessions s ON s.user_id = a.user_id JOIN calls c ON c.session = s.id AND c.tool = a.tool
WHERE c.node <> '' AND c.state IN ('started', 'ended') AND c.decision IN ('', 'approved', 'modified');

-- Of saved servers it stands for the one that it names,
INSERT INTO allowed_tools
SELECT a.user_id, 'mcp', t.name, substr(a.tool, length(t.name) + 3), ''
FROM allowlist a JOIN tools t ON t.user_id = a.user_id AND t.type = 'mcp'
WHERE substr(a.tool, 1, length(t.name) + 2) = t.name || '__' AND length(a.tool) > length(t.name) + 2;

-- else for those whose tool has run under it, or the only one there is; not where it is known as a node's tool.
INSERT INTO allowed_tools
SELECT a.user_id, 'mcp', t.name, a.tool, ''
FROM allowlist a JOIN tools t ON t.user_id = a.user_id AND t.type = 'mcp'
WHERE substr(a.tool, 1, length(t.name) + 2) <> t.name || '__'
  AND (EXISTS (SELECT 1 FROM sessions s JOIN calls c ON c.session = s.id
               WHERE s.user_id = a.user_id AND c.tool = a.tool AND c.node_mark = 'mcp|' || t.name
                 AND c.state IN ('started', 'ended') AND c.decision IN ('', 'approved', 'modified'))
    OR NOT EXISTS (SELECT 1 FROM tools o WHERE o.user_id = a.user_id AND o.type = 'mcp' AND o.id <> t.id)
       AND NOT EXISTS (SELECT 1 FROM allowed_tools n WHERE n.user_id = a.user_id AND n.layer = 'connector' AND n.tool = a.tool))
ON CONFLICT DO NOTHING; -- both names of one tool may have been on the list

-- Who had saved tools, but no allow-list, had a row without having chosen run_everything.
UPDATE users SET mode = '' WHERE mode = 'run_everything'
  AND EXISTS (SELECT 1 FROM tools t WHERE t.user_id = users.user_id)
  AND NOT EXISTS (SELECT 1 FROM allowlist a WHERE a.user_id = users.user_id);
