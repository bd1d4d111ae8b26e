// Package paper computes, from figures that `bench -only=scale` measured, what larger clusters would need: the tables of
// docs/scaling.md.
//
//	go run ./services/e2e/bench -only=scale -json services/e2e/bench/paper/figures.json
//	go test ./services/e2e/bench/paper -update
//
// Every row of a table says in its second column how it is computed, so that a reader can do it again by hand. The
// figures are linear in the number of nodes as far as they were measured; where something is not, docs/scaling.md says so.
package paper
