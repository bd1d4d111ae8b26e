// Command knowledge keeps users' documents, and finds passages in them.
package main

import "github.com/hecaton-dev/hecaton/services/knowledge/app"

// version is set by the linker.
var version = "dev"

func main() { app.Program.Main(version) }
