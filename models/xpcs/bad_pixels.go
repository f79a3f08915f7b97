// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// framesLooked is the number of frames, spread over a movie, in which pixels without a count are looked for. Where a quarter of them or
// more have such pixels apart from those that have no count in most, framesLookedAgain are looked at.
const (
	framesLooked      = 9
	framesLookedAgain = 99
)

// mostLeftOut is the largest share of the pixels in bins that are left out because they have no count in some of the frames.
const mostLeftOut = 0.1

// looked is the pixels of bins without a count in each of some frames: see
// correlate.NoCount. Frames in which more than half of the pixels have none are bad themselves, say nothing of pixels and are not among them.
type looked [][]int

// lookAt looks at n frames spread over a movie.
func lookAt(movie correlate.Movie, kept []int, n int) (l looked, err error) {
	frame := make([]float32, movie.Height*movie.Width)
	n = min(n, movie.Frames)
	for k := range n {
		if err := movie.Dense(k*(movie.Frames-1)/max(1, n-1), frame); err != nil {
			return nil, err
		}
		none := []int{}
		for _, p := range kept {
			if correlate.NoCount(frame[p]) {
				none = append(none, p)
			}
		}
		if 2*len(none) <= len(kept) {
			l = append(l, none)
		}
	}
	return l, nil
}

// counts returns in how many of the frames each pixel has no count.
func (l looked) counts() map[int]int {
	n := map[int]int{}
	for _, none := range l {
		for _, p := range none {
			n[p]++
		}
	}
	return n
}

// without returns the frames but for some pixels, and how many of them still have others without a count.
func (l looked) without(pixels map[int]bool) (rest looked, bad int) {
	for _, none := range l {
		none = slices.DeleteFunc(slices.Clone(none), func(p int) bool { return pixels[p] })
		if rest = append(rest, none); len(none) > 0 {
			bad++
		}
	}
	return rest, bad
}

// withoutCount returns the pixels of bins that have no count in more than half of the frames that are looked at, and those that have none
// in some, where enough of them do that a quarter of the frames or more would be bad. The latter are the ones that have none most often,
// as many as leave less than one frame in twenty bad.
func withoutCount(movie correlate.Movie, m *nexus.Maps) (never, sometimes []int, err error) {
	if movie.Dense == nil || movie.Height != m.Height || movie.Width != m.Width {
		return nil, nil, nil // whoever correlates says what is wrong
	}
	kept := inBins(m)
	l, err := lookAt(movie, kept, framesLooked)
	if err != nil {
		return nil, nil, err
	}
	out := map[int]bool{}
	for p, n := range l.counts() {
		if 2*n > len(l) {
			never, out[p] = append(never, p), true
		}
	}
	slices.Sort(never)
	if _, bad := l.without(out); 4*bad < len(l) || bad == 0 {
		return never, nil, nil
	}
	if l, err = lookAt(movie, kept, framesLookedAgain); err != nil {
		return nil, nil, err
	}
	return never, l.sometimes(out, int(mostLeftOut*float64(len(kept)))), nil
}

// sometimes returns up to most pixels, besides those that are out, that have no count most often; nil if as many do not suffice.
func (l looked) sometimes(out map[int]bool, most int) (pixels []int) {
	l, bad := l.without(out)
	often := l.counts()
	order := slices.SortedFunc(maps.Keys(often), func(a, b int) int { return cmp.Or(often[b]-often[a], a-b) })
	more := map[int]bool{}
	for _, p := range order {
		if 20*bad < len(l) {
			break
		}
		if len(pixels) == most {
			return nil
		}
		pixels, more[p] = append(pixels, p), true
		_, bad = l.without(more)
	}
	slices.Sort(pixels)
	return pixels
}

// countless returns the pixels of bins that are dead, and those whose readings are below 0, by frames spread over a movie. kept are the pixels to
// look at, those of bins that have counts in most frames.
func countless(movie correlate.Movie, m *nexus.Maps, kept []int) (dead, negative []int, err error) {
	for _, n := range []int{framesLooked, framesLookedAgain} {
		sum, squares, frames, err := sumsOver(movie, kept, n)
		if err != nil || frames < 2 {
			return nil, nil, err
		}
		suspect := slices.ContainsFunc(kept, func(p int) bool { return sum[p] <= 0 })
		if !suspect {
			return nil, nil, nil
		}
		negative = negativePixels(kept, sum, squares, frames)
		for p := range sum {
			sum[p] /= float64(frames)
		}
		dead = deadPixels(m, sum, frames)
	}
	return dead, negative, nil
}

// sumsOver returns the sums of the readings of pixels and of their squares over n frames spread over a movie, without frames in which some have none,
// and how many frames are left.
func sumsOver(movie correlate.Movie, kept []int, n int) (sum, squares []float64, frames int, err error) {
	size := movie.Height * movie.Width
	frame := make([]float32, size)
	sum, squares = make([]float64, size), make([]float64, size)
	n = min(n, movie.Frames)
	for k := range n {
		if err := movie.Dense(k*(movie.Frames-1)/max(1, n-1), frame); err != nil {
			return nil, nil, 0, err
		}
		if slices.ContainsFunc(kept, func(p int) bool { return correlate.NoCount(frame[p]) }) {
			continue
		}
		frames++
		for _, p := range kept {
			v := float64(frame[p])
			sum[p], squares[p] = sum[p]+v, squares[p]+v*v
		}
	}
	return sum, squares, frames, nil
}

// dim returns a q map without the pixels that are dead and those whose readings are below 0, and which these are.
func dim(movie correlate.Movie, q *nexus.QMap) (rest *nexus.QMap, dead, negative []int, err error) {
	m := q.Maps
	if movie.Dense == nil || movie.Height != m.Height || movie.Width != m.Width {
		return q, nil, nil, nil
	}
	if dead, negative, err = countless(movie, m, inBins(m)); err != nil {
		return nil, nil, nil, err
	}
	rest, err = without(q, slices.Concat(dead, negative))
	return rest, dead, negative, err
}

// inBins returns the pixels of static bins.
func inBins(m *nexus.Maps) (pixels []int) {
	for p, b := range m.Static {
		if b > 0 {
			pixels = append(pixels, p)
		}
	}
	return pixels
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
		return nil, fmt.Errorf("xpcs: %s in bins of the q map %s no count in most frames or in many, or readings below 0 (%s), and without them a bin has no pixels: mask them (mask --image) and make the q map again (qmap --mask): %w", errtext.Count(len(pixels), "pixel"), errtext.Agree(len(pixels), "has", "have"), places(pixels, m.Width), err)
	}
	return &out, nil
}
