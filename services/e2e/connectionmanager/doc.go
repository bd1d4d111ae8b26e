// Package connectionmanager shows that every method of the seed's ConnectionManager has its equal here, across pods: one
// subtest per method, under the method's name. docs/connection-manager.md is the table.
package connectionmanager
