package main

import (
	"fmt"
	"os"
	"syscall"
)

// spare is more than what a process has open besides its nodes' sockets.
const spare = 300

// checkLimits fails if the system does not allow one process so many nodes, and says which limit to raise.
func checkLimits(nodes int) error {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return fmt.Errorf("limit of open files: %w", err)
	}
	// Go raises the soft limit to the hard one when a program begins, children included.
	if files.Max < uint64(nodes+spare) {
		return fmt.Errorf("%d nodes in a process need %d open files, the hard limit is %d: raise it (ulimit -Hn %d, as root), or take fewer -nodes or more -gateways",
			nodes, nodes+spare, files.Max, nodes+spare)
	}
	const path = "/proc/sys/net/ipv4/ip_local_port_range"
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil // not Linux: connect tells
	}
	var first, last int
	if _, err := fmt.Sscan(string(raw), &first, &last); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if ports := last - first + 1; ports < nodes+spare {
		return fmt.Errorf("%d sockets to one address need as many local ports, there are %d: raise net.ipv4.ip_local_port_range (%s), or take fewer -nodes or more -gateways", nodes, ports, path)
	}
	return nil
}
