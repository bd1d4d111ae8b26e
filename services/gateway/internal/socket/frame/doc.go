// Package frame lends the buffers in which frames of the socket travel through a pod.
//
// A frame is read once into a pooled [Buffer] and handed on by reference until its last user releases it; nobody clears
// it. A [Budget] bounds the bytes of large frames in flight, so that many at once wait in their sockets and not in the
// heap: 512 answers of 200 KiB at a time doubled the CPU per call through garbage collection.
package frame
