// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import _ "embed"

// Narrow is CUDA text that defines the 16-bit types eu_f16 and eu_bf16 for arrays of reals, and the
// function eu_tf32. Programs that use them begin with it. They round like tensor.HalfOf,
// tensor.BFloat16Of and tensor.RoundTF32.
//
//go:embed cu/narrow.cuh
var Narrow string
