// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build arm64 && !purego

package kernels

// available is NEON, which every processor of 64-bit Arm has.
func available() Level { return NEON }

// counting is empty: products of bytes are an extension of arm64 that the generator does not know.
var counting map[Level]*countKernels
