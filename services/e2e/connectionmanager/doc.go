// Package connectionmanager shows that every operation of the Zeus connection manager has its equal here, across pods: one
// subtest per method, under the method's name. docs/protocols/zeus-connections.md#operations has the table.
package connectionmanager
