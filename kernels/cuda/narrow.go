// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import _ "embed"

// Narrow is the text of the types eu_f16 and eu_bf16, arrays of which hold reals in 16 bits, and of the
// function eu_tf32, for programs that begin with it. They round as tensor.HalfOf, tensor.BFloat16Of
// and tensor.RoundTF32.
//
//go:embed cu/narrow.cuh
var Narrow string
