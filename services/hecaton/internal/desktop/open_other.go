//go:build !unix

package desktop

// openNonblock is nothing where files cannot be FIFOs.
const openNonblock = 0
