// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64 && !purego

package kernels

import "golang.org/x/sys/cpu"

func available() Level {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL && x.HasBMI2:
		return AVX512
	case x.HasAVX2 && x.HasFMA:
		return AVX2
	}
	return PureGo
}
