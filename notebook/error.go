// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/given"
)

// Error is the value with which the functions of this package panic. Its text says what went wrong, in
// which step, and what to try.
type Error struct {
	Step string // name of the call that failed, such as Sample
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Step, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// must panics if there is an error.
func must(step string, err error) {
	if err != nil {
		panic(&Error{step, brief(err)})
	}
}

// brief returns an error as a cell shows it: without the stack of a panic of the user's function, and
// each line once.
func brief(err error) error {
	var panicked *given.PanicError
	switch {
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case errors.As(err, &panicked):
		return fmt.Errorf("the function panicked: %v", panicked.Value)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if folder, wdErr := os.Getwd(); wdErr == nil {
			return fmt.Errorf("%w; relative names start from %s", err, folder)
		}
	}
	lines := strings.Split(err.Error(), "\n")
	if once := slices.Compact(slices.Clone(lines)); len(once) < len(lines) {
		return errors.New(strings.Join(once, "\n"))
	}
	return err
}

// value returns what a function gives, and panics if that is an error.
func value[T any](step string, get func() (T, error)) T {
	v, err := get()
	must(step, err)
	return v
}

// building calls a function of the user, and names the step if it panics.
func building(step string, do func()) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		switch r := r.(type) {
		case *Error, runtime.Error:
			panic(r)
		case error:
			panic(&Error{step, r})
		}
		panic(&Error{step, fmt.Errorf("%v", r)})
	}()
	do()
}
