// Command node-registry keeps presence: which nodes exist, who holds them, and which session talks to which node.
package main

import "github.com/hecaton-dev/hecaton/services/node-registry/app"

// version is set by the linker.
var version = "dev"

func main() { app.Program.Main(version) }
