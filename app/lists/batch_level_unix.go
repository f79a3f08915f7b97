// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package lists

import (
	"errors"
	"os"
	"syscall"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/batch/work"
)

// atLevel makes sure that the kernels use the instruction set of a manifest: where this processor has a
// better one, the program starts again with EURYALE_SIMD.
func atLevel(a *frame.App, m *batch.Manifest) error {
	err := work.CheckSet(m)
	var other *work.OtherSetError
	if !errors.As(err, &other) || other.Level == "" || os.Getenv("EURYALE_SIMD") != "" {
		return exit.With(exit.Config, err)
	}
	program, err := os.Executable()
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	a.Release()
	return exit.With(exit.Failed, syscall.Exec(program, os.Args, append(os.Environ(), "EURYALE_SIMD="+other.Level)))
}
