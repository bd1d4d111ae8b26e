// Package connectionmanager shows that the cluster has every operation of the Zeus connection manager, across pods: one
// subtest for each method, with the method's name. docs/protocols/zeus-connections.md#operations has the table.
package connectionmanager
