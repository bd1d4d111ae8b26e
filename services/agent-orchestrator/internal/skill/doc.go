// Package skill has the skills of users: folders of the Agent Skills format, which tell an agent how to do something
// (docs/skills.md).
//
// What the package promises:
//
//   - [Parse] reads a SKILL.md, and says of one that cannot be read in which line and under which key. Keys that it does not know
//     are kept. [Unzip] reads a folder from a zip, and refuses one that leaves its folder, has links, or has more bytes than it
//     says, at a cost that its size bounds.
//   - A [Library] is what a user has: own skills and those that come with the server. The database has the index and the texts, so
//     that a change holds on every pod from its answer on; the other files are in object storage under skills/{name}/, and are
//     checked against the index when they are read.
//   - [Choose] says which skills a run is given whole, and [Prompt] how a model is told of them: as data, in bounds.
//
// Nothing here decides about calls: a skill is text for the model, and changes no approval.
package skill
