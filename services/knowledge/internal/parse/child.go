package parse

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"time"
)

// childVariable makes a program that holds this package a reader of one document: it reads the file that is its standard input and
// writes sections to its standard output. Its value is how much memory it may take, in bytes, a space, and the name of the file.
const childVariable = "HECATON_PARSE_DOCUMENT"

// So any program that can run the service can also be the process in which it reads a document: the service's own, the cluster in one
// process, and a test.
func init() { //nolint:gochecknoinits // before the program's own main, whatever that is
	if order, ok := os.LookupEnv(childVariable); ok {
		os.Exit(child(order))
	}
}

// reply is one line of a child's output.
type reply struct {
	Section *Section `json:"section,omitempty"`
	Failure string   `json:"failure,omitempty"`
	Done    bool     `json:"done,omitempty"`
}

// child is the process of one document.
func child(order string) int {
	first, fileName, _ := bytes.Cut([]byte(order), []byte(" "))
	memory, err := strconv.ParseInt(string(first), 10, 64)
	if err != nil {
		return 2
	}
	debug.SetMaxStack(64 << 20)
	debug.SetMemoryLimit(memory * 3 / 4)
	if err := boundMemory(uint64(memory)); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 2
	}
	found, err := read(os.Stdin, string(fileName))
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	enc := json.NewEncoder(out)
	last := reply{Done: true}
	if err != nil {
		var own *Failure
		if last = (reply{Failure: "the document cannot be read"}); errors.As(err, &own) {
			last.Failure = own.Message
		}
		found = nil
	}
	for i := range found {
		_ = enc.Encode(reply{Section: &found[i]}) // the error stays, and Flush returns it
	}
	_ = enc.Encode(last)
	if out.Flush() != nil {
		return 1
	}
	return 0
}

// Bounds of a process that reads one document.
type Bounds struct {
	// Time that it may take; 0 means a minute.
	Time time.Duration
	// Memory that it may take beside what any Go program maps, in bytes; 0 means 1 GiB. It is held on Linux.
	Memory int64
}

func (b Bounds) withDefaults() Bounds {
	if b.Time == 0 {
		b.Time = time.Minute
	}
	if b.Memory == 0 {
		b.Memory = 1 << 30
	}
	return b
}

// maxStderr is how much is kept of what a child says before it dies.
const maxStderr = 4 << 10

// apart reads a document in a process of its own.
func apart(ctx context.Context, file *os.File, fileName string, b Bounds) ([]Section, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	within, cancel := context.WithTimeout(ctx, b.Time)
	defer cancel()
	cmd := exec.CommandContext(within, self)
	// Nothing of the environment: it has passwords.
	cmd.Env = []string{childVariable + "=" + strconv.FormatInt(b.Memory, 10) + " " + fileName, "TMPDIR=" + os.TempDir(), "GOTRACEBACK=none", "GOMAXPROCS=2"}
	cmd.Dir = os.TempDir()
	cmd.Stdin = file
	said := &tail{}
	cmd.Stderr = said
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	found, problem := receive(out)
	if problem != nil {
		cancel() // it may still be writing
	}
	ended := cmd.Wait()
	var own *Failure
	switch {
	case errors.As(problem, &own) || problem == nil:
		return found, problem
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(within.Err(), context.DeadlineExceeded):
		return nil, failure("TOO_SLOW: reading the document takes more than %v", b.Time)
	case bytes.Contains(said.text, []byte("out of memory")) || bytes.Contains(said.text, []byte("cannot allocate")):
		return nil, failure("TOO_LARGE: reading the document takes more than %d MiB of memory", b.Memory>>20)
	case bytes.Contains(said.text, []byte("stack")):
		return nil, failure("the document is broken: it is nested too deep")
	}
	return nil, failure("the document is broken: its reader ended with %v", ended)
}

// receive reads what a child has found.
func receive(out io.Reader) (found []Section, err error) {
	dec := json.NewDecoder(io.LimitReader(out, 4*MaxText))
	size := 0
	for {
		var r reply
		if err := dec.Decode(&r); err != nil {
			return nil, err
		}
		switch {
		case r.Failure != "":
			return nil, &Failure{r.Failure}
		case r.Done:
			return found, nil
		case r.Section != nil:
			if size += len(r.Section.Text); size > MaxText {
				return nil, errTooLong()
			}
			found = append(found, *r.Section)
		}
	}
}

// tail keeps the beginning of what is written.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p[:min(len(p), maxStderr-len(t.text))]...)
	return len(p), nil
}
