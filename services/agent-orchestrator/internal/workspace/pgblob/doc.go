// Package pgblob keeps objects in PostgreSQL, for clusters that have no object storage: a driver of gocloud.dev/blob with what
// package workspace needs of one.
//
// An object is one row of workspace_objects, its bytes are rows of workspace_parts of at most [partSize]. A write is one
// transaction: the object's row changes from the old parts to the new ones, and the old ones go. A read is one statement, which sees
// one state of both tables: the whole old object or the whole new one. Tables are made when the bucket is opened.
//
// Copies, signed URLs and delimiters are not implemented, and reported as such.
package pgblob
