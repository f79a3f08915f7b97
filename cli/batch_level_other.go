// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package cli

import (
	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/batch/work"
)

// atLevel makes sure that the kernels use the instruction set of a manifest.
func (a *app) atLevel(m *batch.Manifest) error { return as(exitConfig, work.CheckSet(m)) }
