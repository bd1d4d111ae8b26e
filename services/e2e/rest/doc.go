// Package rest has scenarios of the REST API of nodes, over real pods: its answers have the form of the public reference.
package rest
