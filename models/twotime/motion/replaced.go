// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package motion

import (
	"fmt"
	"math"
	"sort"

	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/data/nexus"
)

// replaced makes the correlations of frames unknown that the correlator replaced by others, because they were bad. It returns what it did.
func replaced(h *homodyne.File, c2 *homodyne.Correlation) (note string, err error) {
	if h.Layout != homodyne.APSU {
		return "", nil
	}
	bad, err := nexus.OpenReplaced(h.Name)
	if len(bad) == 0 {
		return "", err
	}
	trace, err := nexus.OpenTrace(h.Name)
	if err != nil || trace == nil {
		return "", err
	}
	n, out := c2.Frames(), []int(nil)
	for _, f := range bad {
		// A frame of the correlation may be the mean of several of the movie, from that of the trace on.
		at := sort.Search(len(trace.Frame), func(i int) bool { return trace.Frame[i] > float64(f) })
		if i := at - c2.First; at > 0 && i >= 0 && i < n && (len(out) == 0 || out[len(out)-1] != at) {
			out = append(out, at)
			blank(c2.C2, n, i)
		}
	}
	if out == nil {
		return "", nil
	}
	return fmt.Sprintf("frames %v were left out, because correlate replaced them, as they were bad", out), nil
}

// blank makes the correlations of a frame with all others unknown.
func blank(matrices [][]float64, n, frame int) {
	for _, c2 := range matrices {
		for j := range n {
			c2[frame*n+j], c2[j*n+frame] = math.NaN(), math.NaN()
		}
	}
}
