// Package workspace keeps the files of users in object storage (docs/protocols/zeus-agents.md#workspace): a directory where
// everything runs in one process, S3 or PostgreSQL in clusters, memory in tests.
//
// What the package promises:
//
//   - A file of a user is stored under users/{user_id}/workspace/{path}. User ids are escaped so that they can be read back,
//     and no id reaches another user's files, not even on a file system for which "Ana" and "ana" are one name ([Store]).
//   - A path is relative and clean ([CheckPath]); any other is refused, and the error says what is wrong.
//   - [Store.Put] writes a file whole or not at all; a reader at that time gets the old file or the new one.
//   - No file is larger than [Options.MaxBytes].
//   - Where there is Redis, listings and small files are kept there for 5 minutes (docs/protocols/zeus-agents.md#workspace),
//     for all pods; every change of a user's files makes all pods forget them. Without Redis there is no cache, and no error.
//     If a pod could not report a change to Redis, the others show the old state for the rest of the 5 minutes.
//
// Beside the workspace each user has other areas, such as skills/ ([Store.Area]), which no path of the workspace reaches.
//
// [Service] is WorkspaceService on top of it.
package workspace
