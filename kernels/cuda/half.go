package cuda

import _ "embed"

// HalfHeader is CUDA C that converts between float and the formats of short storage: half_bits and
// half_value for float16, bfloat_bits and bfloat_value for bfloat16, tf32_value for TF32. Programs
// take it as a header, or have it before their kernels. A kernel computes in float and stores the
// 16 bits in an unsigned short.
//
//go:embed cu/half.cuh
var HalfHeader string
