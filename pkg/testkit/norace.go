//go:build !race

package testkit

const memoryFactor = 1
