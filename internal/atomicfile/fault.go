package atomicfile

import (
	"io/fs"
	"os"
	"sync/atomic"
)

// fault decides for tests which operations fail.
var fault atomic.Pointer[func(op, name string) error]

// Inject asks f before every create, write, sync and rename, with the name that the file
// will have; what it returns is the operation's error. Restore ends that. It serves
// tests that let every operation of a command fail in its turn.
func Inject(f func(op, name string) error) (restore func()) {
	before := fault.Swap(&f)
	return func() { fault.Store(before) }
}

// fails returns the error that a test wants of an operation.
func fails(op, name string) error {
	if f := fault.Load(); f != nil {
		if err := (*f)(op, name); err != nil {
			return &fs.PathError{Op: op, Path: name, Err: err}
		}
	}
	return nil
}

// rename is os.Rename.
func rename(from, to string) error {
	if err := fails("rename", to); err != nil {
		return err
	}
	return os.Rename(from, to)
}
