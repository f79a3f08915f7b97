// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

// fused returns x*y + z, rounded twice: WebAssembly has no instruction that rounds once, and computing it takes a hundred times as long.
func fused(x, y, z float64) float64 { return x*y + z }
