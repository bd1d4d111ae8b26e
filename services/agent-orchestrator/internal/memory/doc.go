// Package memory has what users' agents remember (docs/memory.md): items of three scopes and eight types.
//
// What the package promises:
//
//   - The same content is one item in its scope ([Sum]). What looks like a secret is refused ([Keeper.Save]).
//   - There is no copy of an item: every read asks the database, and the profile is made of the items when it is asked for. So what
//     was forgotten is gone everywhere at once.
//   - [Search] ranks by the words that query and item share, exactly (BM25). It knows no meanings.
//   - [Prompt] tells a model of items as data, in at most 2,000 characters and 600 that say what they are.
package memory
