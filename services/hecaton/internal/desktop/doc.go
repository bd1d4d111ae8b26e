// Package desktop holds the tools of a desktop node: read_file, write_file, list_directory, run_command and screenshot.
//
// All files are those of one allowed directory. It is opened once, as an [os.Root]: neither "..", an absolute path nor a
// symbolic link leads out of it, also while somebody moves directories about.
//
// What the package promises:
//
//   - A path may be relative to the allowed directory, or absolute and inside it.
//
//   - write_file replaces a file whole or not at all. What a link inside the directory points to is replaced, not the link.
//
//   - A file with a second name (a hard link), which may lie outside of the directory, is neither read nor written.
//
//   - run_command starts in the allowed directory, with an environment that names the user and the machine and carries no
//     secrets of the node. When it ends, by itself, by its timeout or because its caller cancelled, every process of its
//     group is killed. Output is bounded, and what was cut is said to be.
//
//   - Every answer fits into a frame ([node.MaxFrameBytes]), whatever the files and outputs contain.
//
//   - A call with wrong arguments is a *[node.ParamsError]; a tool that cannot do what it was asked answers with a result
//     that is an error. Both say what was wrong and what would be right.
//
//   - run_command is offered only where it is asked for ([Options].Commands), and where it is asked for a person allows each call
//     first ([Options].Confirm): what was refused, or not answered in time, has not run.
//
//   - In a sandbox ([SandboxOptions]) a command writes to the allowed directory only. It sees that and the system's programs, but no
//     home, no other process and no service's socket, and has no network unless it is given. [Tools.Isolation] says what is in force.
//
// Without a sandbox a command is a program of the user's, with the user's rights: the allowed directory is where it starts, no more.
// Even as root it cannot look into the node's memory.
package desktop
