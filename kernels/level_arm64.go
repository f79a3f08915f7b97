// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build arm64 && !purego

package kernels

// available is NEON, which every processor of 64-bit Arm has.
func available() Level { return NEON }
