// Package workspace keeps the files of users in object storage (docs/protocols/zeus-agents.md#workspace): a directory where
// everything runs in one process, S3 in clusters, memory in tests.
//
// What the package promises:
//
//   - A file of a user is kept under users/{user_id}/workspace/{path}. A user id is escaped so that it can be read back, and
//     no id reaches another's files, not even on a file system that takes "Ana" and "ana" for one name ([Store]).
//   - A path is relative and clean ([CheckPath]); everything else is refused with what is wrong with it.
//   - [Store.Put] writes a file whole or not at all, and whoever reads meanwhile gets the old one or the new one.
//   - No file is greater than [Options.MaxBytes].
//   - Where there is Redis, listings and small files are kept there for 5 minutes (docs/protocols/zeus-agents.md#workspace),
//     for all pods; whatever changes a user's files makes all of them forget. Redis away means no cache, never an error. A pod
//     that could not tell Redis of a change leaves the others with what they had for the rest of the 5 minutes.
//
// [Service] is WorkspaceService on top of it.
package workspace
