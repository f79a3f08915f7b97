// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !wasm

package kernels

import "math"

// fused returns x*y + z, rounded once.
func fused(x, y, z float64) float64 { return math.FMA(x, y, z) }
