// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package atomicfile

import (
	"io/fs"
	"os"
	"sync/atomic"
)

// fault decides in tests which operations fail.
var fault atomic.Pointer[func(op, name string) error]

// Inject makes every create, write, sync and rename call f first, with the name that the file will
// have; an error from f becomes the error of the operation. Calling restore ends this. It serves
// tests that let each operation of a command fail in turn.
func Inject(f func(op, name string) error) (restore func()) {
	before := fault.Swap(&f)
	return func() { fault.Store(before) }
}

// fails returns the error that a test injects into an operation.
func fails(op, name string) error {
	if f := fault.Load(); f != nil {
		if err := (*f)(op, name); err != nil {
			return &fs.PathError{Op: op, Path: name, Err: err}
		}
	}
	return nil
}

// rename is os.Rename with fault injection.
func rename(from, to string) error {
	if err := fails("rename", to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// between is called in tests between the steps by which processes share a folder.
var between atomic.Pointer[func(path string)]

// Step says that this process is between two steps by which it shares a path with others: it may be suspended here for any time.
func Step(path string) {
	if f := between.Load(); f != nil {
		(*f)(path)
	}
}

// Suspend makes every Step call f with its path. Calling restore ends this. It serves tests that suspend processes between any two steps.
func Suspend(f func(path string)) (restore func()) {
	before := between.Swap(&f)
	return func() { between.Store(before) }
}
