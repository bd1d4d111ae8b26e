//go:build !linux

package inbox

// Fill waits until more has been read. It is not called when [Size] bytes are there. The connection's deadlines hold.
func (in *Inbox) Fill() error {
	n, err := in.conn.Read(in.room())
	in.end += n
	in.release()
	if n > 0 {
		err = nil // it comes again
	}
	return err
}

func (in *Inbox) readNow(uintptr) bool { return true }
