// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// framesLooked is the number of frames, spread over a movie, in which pixels without a count are looked for.
const framesLooked = 9

// withoutCount returns the pixels of bins that have no count in more than half of the frames that are looked at: those that are not finite, as marks
// of detectors are when a file has been read. Frames in which more than half of the pixels have none are bad themselves and say nothing of pixels.
func withoutCount(movie correlate.Movie, m *nexus.Maps) (pixels []int, err error) {
	if movie.Dense == nil || movie.Height != m.Height || movie.Width != m.Width {
		return nil, nil // whoever correlates says what is wrong
	}
	var kept []int
	for p, b := range m.Static {
		if b > 0 {
			kept = append(kept, p)
		}
	}
	frame, missing, good := make([]float32, m.Height*m.Width), make([]int, m.Height*m.Width), 0
	looked := min(framesLooked, movie.Frames)
	for k := range looked {
		if err := movie.Dense(k*(movie.Frames-1)/max(1, looked-1), frame); err != nil {
			return nil, err
		}
		var none []int
		for _, p := range kept {
			if v := float64(frame[p]); math.IsNaN(v) || math.IsInf(v, 0) {
				none = append(none, p)
			}
		}
		if 2*len(none) > len(kept) {
			continue
		}
		good++
		for _, p := range none {
			missing[p]++
		}
	}
	for _, p := range kept {
		if 2*missing[p] > good {
			pixels = append(pixels, p)
		}
	}
	return pixels, nil
}

// without returns a q map that leaves out some pixels.
func without(q *nexus.QMap, pixels []int) (*nexus.QMap, error) {
	if len(pixels) == 0 {
		return q, nil
	}
	out, m := *q, *q.Maps
	out.Maps, out.BinQ = &m, nil // the means of q are those of other pixels
	m.Mask, m.Dynamic, m.Static = slices.Clone(m.Mask), slices.Clone(m.Dynamic), slices.Clone(m.Static)
	for _, p := range pixels {
		m.Mask[p], m.Dynamic[p], m.Static[p] = false, 0, 0
	}
	if err := out.Check(); err != nil {
		return nil, fmt.Errorf("xpcs: %s in bins of the q map %s no count in most frames (%s), and without them a bin has no pixels: mask them (mask --image) and make the q map again (qmap --mask): %w", errtext.Count(len(pixels), "pixel"), errtext.Agree(len(pixels), "has", "have"), places(pixels, m.Width), err)
	}
	return &out, nil
}
