// Package plan says what a load consists of: who the simulated users and nodes are, and which node the nth call goes to,
// with what. All of it is a function of the seed and of the number, whoever makes the call and whenever: the same seed
// gives the same plan.
package plan
