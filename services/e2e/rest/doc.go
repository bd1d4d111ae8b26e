// Package rest holds the scenarios of the REST API of nodes, over real pods: the shapes of the public reference.
package rest
