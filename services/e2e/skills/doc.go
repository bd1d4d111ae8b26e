// Package skills tests skills (docs/skills.md) and memories (docs/memory.md) from outside: over two gateways with an orchestrator
// each, which share a database and a storage of files.
package skills
