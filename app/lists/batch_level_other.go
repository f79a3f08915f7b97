// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package lists

import (
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/batch/work"
)

// atLevel makes sure that the kernels use the instruction set of a manifest.
func atLevel(a *frame.App, m *batch.Manifest) error { return exit.With(exit.Config, work.CheckSet(m)) }
