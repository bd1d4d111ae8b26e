// Package pictures keeps the last picture that each of the pod's nodes answered with, and has those of other pods' nodes.
//
// A picture lives where its node is held, with the node's connection: nobody else needs it until somebody asks, so a call pays for one
// copy in memory and a message of some bytes, and nothing is left of it when the node goes, is unbound, or moves to another pod. A store
// that all pods share would take each picture of each call over the network, whether it is ever looked at or not.
//
// What is kept is bounded: 8 MiB for one picture, 64 MiB for a pod, and an hour. The bytes are the node's, in base64 as it sent them;
// nothing is decoded.
package pictures
