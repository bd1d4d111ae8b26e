// Package migrations holds the schema of the knowledge store: a directory for each kind of database, whose files say the same in
// its words and have the same numbers.
package migrations

import "embed"

// Files has them, in the directories postgres and sqlite.
//
//go:embed postgres/*.sql sqlite/*.sql
var Files embed.FS
