// Command gateway holds the connections of nodes and web clients, and routes calls to them.
package main

import "github.com/hecaton-dev/hecaton/services/gateway/app"

// version is set by the linker.
var version = "dev"

func main() { app.Program.Main(version) }
