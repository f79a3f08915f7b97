package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Exit codes; 64 and above are those of sysexits.h.
const (
	exitOK          = 0
	exitFailed      = 1  // the run failed, or --strict found fault
	exitUsage       = 64 // arguments or flags
	exitData        = 65 // a file does not hold what it should
	exitNoInput     = 66 // a file is not there or cannot be read
	exitNoDevice    = 69 // the device asked for is not available
	exitBug         = 70 // a mistake of ours
	exitCannotWrite = 73
	exitConfig      = 78
	exitInterrupted = 130
)

// exitError is an error with the exit code it causes and, sometimes, a hint.
type exitError struct {
	code int
	err  error
	hint string
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func usage(format string, a ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, a...)}
}

// as gives err an exit code, unless it has one.
func as(code int, err error) error {
	var have *exitError
	if err == nil || errors.As(err, &have) {
		return err
	}
	return &exitError{code: code, err: err}
}

// input gives the error of reading a file its code: absent or unreadable, or bad.
func input(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return as(exitNoInput, err)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return as(exitNoInput, err)
	}
	return as(exitData, err)
}

func codeOf(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}
