// Package announce tells a user's web clients what becomes of documents.
package announce
