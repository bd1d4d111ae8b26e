package edge

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// onlyOldConnections passes all packets of a TCP socket but those that begin a connection: the flags are at byte 13 of the
// header, and of SYN and ACK the first packet has SYN alone.
var onlyOldConnections = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13},
	{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0x12},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 0x02, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
}

// noNewConnections has the kernel ignore new connections to ln: a client that is ignored knows that it never connected.
func noNewConnections(ln *net.TCPListener) error {
	program := unix.SockFprog{Len: uint16(len(onlyOldConnections)), Filter: &onlyOldConnections[0]}
	return control(ln, func(fd int) error {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program)
	})
}

// notAccepted returns how many connections to ln wait to be accepted.
func notAccepted(ln *net.TCPListener) (n int, err error) {
	err = control(ln, func(fd int) error {
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil {
			n = int(info.Unacked) // which means that, of a listener
		}
		return err
	})
	return n, err
}

func control(ln *net.TCPListener, f func(fd int) error) error {
	raw, err := ln.SyscallConn()
	if err != nil {
		return err
	}
	var problem error
	err = raw.Control(func(fd uintptr) { problem = f(int(fd)) })
	return errors.Join(err, problem)
}
