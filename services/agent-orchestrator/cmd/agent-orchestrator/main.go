// Command agent-orchestrator runs agents.
package main

import "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"

// version is set by the linker.
var version = "dev"

func main() { app.Program.Main(version) }
