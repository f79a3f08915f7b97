// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	_ "embed"
	"strings"

	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

//go:embed testdata/sample.cu
var sampleText string

// sample are kernels with warp shuffles, shared memory and barriers.
func sample() rtc.Source { return rtc.Source{Name: "sample.cu", Text: sampleText} }

// withoutBarrier is the program with one barrier left out.
func withoutBarrier(k int) rtc.Source {
	parts := strings.SplitAfter(sampleText, "__syncthreads();")
	parts[k] = strings.TrimSuffix(parts[k], "__syncthreads();")
	return rtc.Source{Name: "mutant.cu", Text: strings.Join(parts, "")}
}

// barriers is the number of barriers in the kernels that work.
func barriers() int {
	working, _, _ := strings.Cut(sampleText, "void divergent")
	return strings.Count(working, "__syncthreads();")
}
