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

// counting holds what Counts and CountProduct call. Without the extension VNNI, products with AVX-512 would take as many instructions as those of AVX2.
var counting = func() map[Level]*countKernels {
	narrow := countKernels{rows: 4, lanes: 8, counts: countsAVX2, scale: scaleCountsAVX2, tile: []countTile{countTile4x1AVX2, countTile4x2AVX2}, few: []countTile{fewTile4x1AVX2, fewTile4x2AVX2}}
	wide := countKernels{rows: 8, lanes: 16, counts: countsAVX512, scale: scaleCountsAVX512, tile: []countTile{countTile8x1AVX512, countTile8x2AVX512, countTile8x3AVX512}}
	if !cpu.X86.HasAVX512VNNI {
		wide = narrow
	}
	return map[Level]*countKernels{AVX2: &narrow, AVX512: &wide}
}()
