// Package allowlist turns what a user wants on the allow-list into its entries: which sources a name stands for, and what
// their tools are like now. So no other tool with the same name is allowed, and not the same tool once it has changed.
//
// What the package promises:
//
//   - A name that is new to the list stands for the sources that offer it at this moment; one that is on it already never
//     comes to stand for more.
//   - A name of Hecaton's own tools, and one that only reads by Hecaton's table, stands for nothing else ([Ours]).
//   - Where two saved servers have the tool, the name alone stands for neither.
//   - An entry without a fingerprint gets that of the tool as it is now; where its source cannot be reached it has none, and
//     the first call decides (package approval).
package allowlist
