// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/memory"
)

// Selection says which part of a file to read.
type Selection struct {
	Q float64 // value of q in 1/angstrom; 0 stands for the only one in the file
	// Tolerance is the largest difference, as a fraction, between the q of a bin and the bin q nearest
	// to Q for both to count as the same q. Default 0.01.
	Tolerance float64
	Angles    AngleFilter
	First     int     // first frame to read, from 1; 0 stands for the first one in the file
	Last      int     // last frame to read; 0 or -1 stands for the last one in the file
	Step      float64 // time from frame to frame in s; 0 stands for that of the file
}

// farthest is how far the nearest q may be from the one that was asked for, as a fraction of it.
const farthest = 0.1

// chosen is a selection that was found in a file.
type chosen struct {
	bins      []int // indices
	q         float64
	tolerance float64
	lo, hi    int // rows from lo to hi-1
	step      float64
	notes     []string
}

// usualTolerance is the default of Selection.Tolerance.
const usualTolerance = 0.01

func (f *File) choose(s Selection) (*chosen, error) {
	c := &chosen{tolerance: s.Tolerance, notes: slices.Clone(f.Notes)}
	if c.tolerance == 0 {
		c.tolerance = usualTolerance
	}
	if !(c.tolerance > 0 && c.tolerance <= farthest) {
		return nil, fmt.Errorf("homodyne: the tolerance of q is %g: want a fraction of q above 0, of at most %g", s.Tolerance, farthest)
	}
	for _, find := range []func(Selection, *chosen) error{f.chooseQ, f.chooseAngles, f.chooseFrames, f.chooseStep, f.fits} {
		if err := find(s, c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *chosen) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// chooseQ takes the bins of one q: those within the tolerance of the q that is nearest to the one asked for.
func (f *File) chooseQ(s Selection, c *chosen) error {
	if s.Q != 0 && (!(s.Q > 0) || math.IsInf(s.Q, 1)) {
		return fmt.Errorf("homodyne: q is %g 1/angstrom: want a number above 0", s.Q)
	}
	if !math.IsNaN(f.asked) && s.Q != 0 && math.Abs(s.Q-f.asked) > 1e-8+1e-6*f.asked {
		return bad(f.Name, "cache_metadata_json", "this cache was made for q = %g 1/angstrom, not %g; name the HDF5 file, or make the cache again", f.asked, s.Q)
	}
	target := s.Q
	if target == 0 {
		target = f.anyQ()
	}
	nearest := math.NaN()
	lost := 0
	for _, b := range f.Bins {
		if math.IsNaN(b.Q) || math.IsNaN(b.Phi) {
			lost++
		} else if !(math.Abs(b.Q-target) >= math.Abs(nearest-target)) {
			nearest = b.Q
		}
	}
	if lost > 0 {
		c.note("%d of %d bins have no q or no azimuth and are left out", lost, len(f.Bins))
	}
	if math.IsNaN(nearest) {
		return bad(f.Name, "", "none of the %d bins has a q and an azimuth; use the q map of this correlation", len(f.Bins))
	}
	if !(math.Abs(nearest-target) <= farthest*target) {
		return bad(f.Name, "", "no bin is near q = %g 1/angstrom; choose one of %s", target, short(f.qs()))
	}
	sum, other := 0.0, math.NaN()
	lowest, highest := math.Inf(1), math.Inf(-1)
	for i, b := range f.Bins {
		switch {
		case math.IsNaN(b.Q) || math.IsNaN(b.Phi):
		case math.Abs(b.Q-nearest) <= c.tolerance*nearest:
			c.bins = append(c.bins, i)
			sum += b.Q
			lowest, highest = min(lowest, b.Q), max(highest, b.Q)
		case !(math.Abs(b.Q-nearest) >= math.Abs(other-nearest)):
			other = b.Q
		}
	}
	c.q = sum / float64(len(c.bins))
	if lowest == highest {
		c.q = lowest
	}
	if s.Q == 0 && !math.IsNaN(other) {
		return bad(f.Name, "", "the file has bins of several q; choose one of %s 1/angstrom", short(f.qs()))
	}
	if math.Abs(c.q-target) > 1e-6*target {
		c.note("q = %g 1/angstrom was asked for, the nearest bins have %.6g", target, c.q)
	}
	text := fmt.Sprintf("%d bins at q = %.6g 1/angstrom", len(c.bins), lowest)
	if len(c.bins) == 1 {
		text = fmt.Sprintf("1 bin at q = %.6g 1/angstrom", lowest)
	}
	if lowest != highest {
		text = fmt.Sprintf("%d bins at q from %.6g to %.6g 1/angstrom, within %g %% of %.6g", len(c.bins), lowest, highest, 100*c.tolerance, nearest)
	}
	if !math.IsNaN(other) {
		text += fmt.Sprintf("; the next q is %.6g", other)
	}
	c.note("%s", text)
	return f.oneRing(c)
}

// anyQ returns the first q.
func (f *File) anyQ() float64 {
	for _, b := range f.Bins {
		if !math.IsNaN(b.Q) {
			return b.Q
		}
	}
	return math.NaN()
}

// qs returns the values of q, sorted.
func (f *File) qs() []float64 {
	var all []float64
	for _, b := range f.Bins {
		if !math.IsNaN(b.Q) {
			all = append(all, b.Q)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Rings returns a value of q in 1/angstrom for each set of bins that Read takes as one q within a relative tolerance (0 for the default), ascending.
func (f *File) Rings(tolerance float64) (rings []float64) {
	if tolerance == 0 {
		tolerance = usualTolerance
	}
	for _, q := range f.qs() {
		if n := len(rings); n == 0 || q > rings[n-1]*(1+tolerance) {
			rings = append(rings, q)
		}
	}
	return rings
}

// oneRing returns an error if two bins have the same azimuth and different q: they are of different rings.
func (f *File) oneRing(c *chosen) error {
	for k, i := range c.bins {
		for _, j := range c.bins[:k] {
			a, b := f.Bins[j], f.Bins[i]
			if a.Phi == b.Phi && math.Abs(a.Q-b.Q) > 1e-6*a.Q {
				return bad(f.Name, "", "bins %d and %d are both at an azimuth of %g, but have q = %.6g and %.6g 1/angstrom: these are different q; use a tolerance below %g",
					a.Number, b.Number, a.Phi, a.Q, b.Q, math.Abs(a.Q-b.Q)/a.Q/2)
			}
		}
	}
	return nil
}

func (f *File) chooseAngles(s Selection, c *chosen) error {
	f.noteRadians(c)
	if len(s.Angles.Ranges) == 0 {
		return nil
	}
	all := c.bins
	c.bins = nil
	var phi []float64
	for _, i := range all {
		phi = append(phi, f.Bins[i].Phi)
		if s.Angles.Takes(f.Bins[i].Phi) {
			c.bins = append(c.bins, i)
		}
	}
	slices.Sort(phi)
	switch {
	case len(c.bins) > 0:
		c.note("angles within %s degrees: %d of %d", ranges(s.Angles.Ranges), len(c.bins), len(all))
	case s.Angles.All:
		c.bins = all
		c.note("none of the %d angles is within %s degrees: all are taken", len(all), ranges(s.Angles.Ranges))
	default:
		return bad(f.Name, "", "no angle is within %s degrees: the angles are %s; widen the ranges, or allow fallback_to_all_angles", ranges(s.Angles.Ranges), short(phi))
	}
	return nil
}

// noteRadians notes angles that are all as small as angles in radians are.
func (f *File) noteRadians(c *chosen) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, i := range c.bins {
		least, most = min(least, f.Bins[i].Phi), max(most, f.Bins[i].Phi)
	}
	if len(c.bins) > 1 && least >= 0 && most > 0 && most <= 6.3 {
		c.note("all angles lie within %.4g to %.4g: are they in radians? They are taken as degrees", least, most)
	}
}

func ranges(all [][2]float64) string {
	var text []string
	for _, r := range all {
		text = append(text, fmt.Sprintf("%g..%g", r[0], r[1]))
	}
	return strings.Join(text, ", ")
}

func (f *File) chooseFrames(s Selection, c *chosen) error {
	from, to := s.First, s.Last
	if from == 0 {
		from = f.First
	}
	end := f.First + f.Frames - 1
	cache := f.First > 1 || f.last > 0
	switch {
	case s.First < 0 || s.Last < -1 || s.Last > 0 && s.Last < from:
		return fmt.Errorf("homodyne: cannot read frames %d to %d: want ascending frames from 1, or -1 for the last one of the file", s.First, s.Last)
	case cache && from < f.First, cache && to > max(end, f.last):
		return bad(f.Name, "cache_metadata_json", "this cache has the frames %d to %d, not %d to %d; name the HDF5 file, or make the cache again", f.First, end, from, to)
	case from > end:
		return bad(f.Name, "", "frame %d was asked for, but the last one is %d; choose fewer frames", from, end)
	case to <= 0:
		to = end
	case to > end:
		c.note("frame %d was asked for, but the last one is %d", to, end)
		to = end
	}
	c.lo, c.hi = from-f.First, to-f.First+1
	if n := c.hi - c.lo; n < 3 {
		return bad(f.Name, "", "the frames %d to %d are only %d; want at least 3", from, to, n)
	}
	return nil
}

func (f *File) chooseStep(s Selection, c *chosen) error {
	c.step = s.Step
	known := f.Step > 0
	switch {
	case s.Step == 0 && known:
		c.step = f.Step
		c.note("the time from frame to frame is that of the file, %g s", f.Step)
	case s.Step == 0:
		return bad(f.Name, "", "the file does not give the time between frames; give dt in s")
	case !(s.Step > 0) || math.IsInf(s.Step, 1):
		return fmt.Errorf("homodyne: dt is %g s: want a number above 0", s.Step)
	case known && math.Abs(s.Step-f.Step) > 1e-6*s.Step:
		c.note("dt = %g s is used, the file says %g s: rates go as 1/dt, so make sure which is right", s.Step, f.Step)
	}
	return nil
}

// fits returns an error if the matrices do not fit into memory.
func (f *File) fits(_ Selection, c *chosen) error {
	n := float64(c.hi - c.lo)
	bytes := 8 * n * n * float64(len(c.bins))
	limit := float64(memory.Limit())
	if s, ok := f.source.(*hdf5Source); ok && 8*n*n > float64(s.MaxBytes) {
		return bad(f.Name, s.keys[c.bins[0]], "it declares %d x %d frames, more than a file of this size can hold; copy it again if it is incomplete", f.Frames, f.Frames)
	}
	if bytes > limit {
		return bad(f.Name, "", "%d matrices of %g frames take %.3g bytes, but this machine has %.3g; choose fewer frames or angles", len(c.bins), n, bytes, limit)
	}
	return nil
}
