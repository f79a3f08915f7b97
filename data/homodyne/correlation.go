// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// Correlation holds what was read from a file: two-time correlations at one q and several azimuths.
type Correlation struct {
	File      string
	Q         float64 // mean q of the bins in 1/angstrom
	Tolerance float64 // largest difference between the q of bins that count as the same q, as a fraction of it
	Bins      []Bin
	Phi       []float64 // azimuths in degrees
	First     int       // number of the first frame, from 1
	Last      int       // number of the last frame
	Step      float64   // time from frame to frame in s
	// C2 holds one matrix (frames, frames) for each azimuth, row-major and symmetric, with the diagonal
	// as it was measured.
	C2      [][]float64
	Missing []int    // number of pairs of different frames without a finite value, for each azimuth
	Notes   []string // messages for the user, such as what was left out
}

// Frames returns the number of frames.
func (c *Correlation) Frames() int { return c.Last - c.First + 1 }

// Read reads the bins of one q. Matrices that are stored as a triangle are completed; those that are
// already complete stay as they are.
func (f *File) Read(s Selection) (*Correlation, error) {
	c, err := f.choose(s)
	if err != nil {
		return nil, err
	}
	out := &Correlation{File: f.Name, Q: c.q, Tolerance: c.tolerance, First: f.First + c.lo, Last: f.First + c.hi - 1, Step: c.step, Notes: c.notes}
	for _, i := range c.bins {
		out.Bins = append(out.Bins, f.Bins[i])
		out.Phi = append(out.Phi, f.Bins[i].Phi)
	}
	n := c.hi - c.lo
	var wrong error
	complete := 0
	err = f.source.read(c.bins, c.lo, c.hi, func(k int, block []float64) {
		whole, err := fold(block, n)
		if err != nil && wrong == nil {
			wrong = &FormatError{Format: "homodyne", File: f.Name, Place: out.Bins[k].Key, What: err.Error()}
		}
		if whole {
			complete++
		}
		out.C2 = append(out.C2, block)
		out.Missing = append(out.Missing, missing(block, n))
	})
	if err == nil {
		err = wrong
	}
	if err != nil {
		return nil, err
	}
	if complete > 0 && f.Layout != NPZ {
		out.Notes = append(out.Notes, fmt.Sprintf("%d of %d matrices are complete, not triangles: they are taken as they are", complete, len(out.C2)))
	}
	return out, out.check(f.Name)
}

// check counts what is missing.
func (c *Correlation) check(name string) error {
	n := c.Frames()
	pairs, sum := n*(n-1)/2, 0
	for k, m := range c.Missing {
		sum += m
		if m == pairs {
			return bad(name, c.Bins[k].Key, "none of the %d pairs of frames has a finite number; leave this angle out, or choose other frames", pairs)
		}
	}
	if sum > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d of %d pairs of frames (%.3g %%) are not finite numbers and are left out, at %s", sum, pairs*len(c.C2), 100*float64(sum)/float64(pairs*len(c.C2)), c.lostIn()))
	}
	return nil
}

// lostIn says which angles miss pairs, with the frames of which none is left there.
func (c *Correlation) lostIn() string {
	n := c.Frames()
	var angles []string
	for k, m := range c.C2 {
		if c.Missing[k] == 0 {
			continue
		}
		var lost []string
		for i := range n {
			if !slices.ContainsFunc(m[i*n:(i+1)*n], func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }) {
				lost = append(lost, strconv.Itoa(c.First+i))
			}
		}
		angle := fmt.Sprintf("phi = %.4g", c.Phi[k])
		if lost != nil {
			angle += fmt.Sprintf(" (all of %s %s)", errtext.Agree(len(lost), "frame", "frames"), errtext.Few(lost, 5))
		}
		angles = append(angles, angle)
	}
	return errtext.Few(angles, 5)
}

// fold completes a matrix of which only a triangle is stored; whole says that none had to be.
func fold(m []float64, n int) (whole bool, err error) {
	lower, upper, differ := 0, 0, 0
	at := [2]int{}
	for i := range n {
		for j := i + 1; j < n; j++ {
			u, l := m[i*n+j], m[j*n+i]
			if l != 0 && l == l {
				lower++
			}
			if u != 0 && u == u {
				upper++
			}
			if !(math.Abs(u-l) <= 1e-5*math.Abs(u)) && (u == u || l == l) && u != l {
				if differ == 0 {
					at = [2]int{i, j}
				}
				differ++
			}
		}
	}
	switch {
	case differ == 0:
		return true, nil
	case lower > 0 && upper > 0:
		return false, fmt.Errorf("it is neither a triangle nor symmetric: frames %d and %d have %g, but %g the other way round; write the upper triangle or the whole symmetric matrix", at[0]+1, at[1]+1, m[at[0]*n+at[1]], m[at[1]*n+at[0]])
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			if lower > 0 {
				m[i*n+j] = m[j*n+i]
			} else {
				m[j*n+i] = m[i*n+j]
			}
		}
	}
	return false, nil
}

// missing counts the pairs of different frames that are not finite numbers.
func missing(m []float64, n int) (count int) {
	for i := range n {
		for _, v := range m[i*n+i+1 : (i+1)*n] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				count++
			}
		}
	}
	return count
}

// Mean returns the mean over the azimuths as a single azimuth of 0, for samples in which all directions
// are alike. It ignores numbers that are not finite.
func (c *Correlation) Mean() *Correlation {
	n := c.Frames()
	out := *c
	mean, count := make([]float64, n*n), make([]float64, n*n)
	for _, m := range c.C2 {
		for i, v := range m {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				mean[i] += v
				count[i]++
			}
		}
	}
	for i := range mean {
		mean[i] /= count[i]
	}
	out.Bins, out.Phi, out.C2 = c.Bins[:min(1, len(c.Bins))], []float64{0}, [][]float64{mean}
	out.Missing = []int{missing(mean, n)}
	out.Notes = append(append([]string{}, c.Notes...), fmt.Sprintf("%d angles are averaged", len(c.C2)))
	return &out
}

// Clock defines the origin of the times of frames.
type Clock struct {
	// Window makes times count from the first frame that is used, whichever it is, as in homodyne and
	// xpcsjax; the amplitudes and exponents of rates then depend on that frame. Otherwise times count
	// from the beginning of frame 1, and the time of a frame is the middle of its exposure.
	Window bool
	// Origin is added to the times, in s: the time from the event that rates count from to the
	// beginning of frame 1.
	Origin float64
	// Start replaces the other settings, unless it is nil: it is the time in s of the first frame that
	// is used.
	Start *float64
}

// Times returns the times in s of frames first to last, which are numbered from 1.
func (c Clock) Times(first, last int, step float64) []float64 {
	t := make([]float64, last-first+1)
	from := (float64(first)-0.5)*step + c.Origin
	switch {
	case c.Start != nil:
		from = *c.Start
	case c.Window:
		from = c.Origin
	}
	for i := range t {
		t[i] = from + float64(i)*step
	}
	return t
}
