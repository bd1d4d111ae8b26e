//go:build race

package testkit

// memoryFactor: under the race detector pools drop what they are given at random, so that it is made anew.
const memoryFactor = 12
