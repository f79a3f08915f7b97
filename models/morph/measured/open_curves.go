// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

func init() { kinds[scatter.Curves] = curves }

// sampleSize is the size in nm of samples for which a fan has points enough.
const sampleSize = 100.0

// curves makes data of reduced patterns, I(q) or I(q, chi): the model is averaged over the pixels of each bin as the reduction has done, or
// over a fan of directions where the detector is not known.
func curves(set *scatter.Set, r Reading) (*Data, []string, error) {
	d, l, notes, err := reducer(set, r, 0)
	if err != nil {
		return nil, nil, err
	}
	bins := map[float64]*Bins{}
	var list []*curve
	for i := range set.Curves {
		c := &set.Curves[i]
		if err := reachable(c); err != nil {
			return nil, nil, fmt.Errorf("measured: %s: %w", set.Name, err)
		}
		if bins[c.Energy] == nil {
			bins[c.Energy] = l.grid(c.Energy, c.Chi, c.Q)
		}
		f := Frame{Energy: c.Energy, Angle: c.Polarization, Exposure: 1, Bins: bins[c.Energy], Counts: c.I, Errors: c.Errors}
		list = append(list, &curve{Curve: c, frame: f, weights: l.weights(bins[c.Energy]), known: d.Fan == nil})
	}
	said := map[string]int{}
	for _, c := range list {
		how, err := c.compare(r.Loss, list)
		if err != nil {
			return nil, nil, fmt.Errorf("measured: %s: %w", set.Name, err)
		}
		said[how]++
		d.Frames = append(d.Frames, c.frame)
	}
	for _, how := range sortedKeys(said) {
		notes = append(notes, how)
	}
	return d, append(notes, zeroNotes(list)...), nil
}

// reachable returns an error for a curve of fewer than two q, which says nothing of the width of its bins, and for q that elastic scattering does
// not reach.
func reachable(c *scatter.Curve) error {
	if len(c.Q) < 2 {
		return fmt.Errorf("the curve at %g eV has %s of q: want at least two, whose distance says how wide its bins are", c.Energy, errtext.Count(len(c.Q), "value"))
	}
	if most, end := slices.Max(c.Q), 2*rsoxs.Wavenumber(c.Energy); most > end {
		return fmt.Errorf("q reaches %.4g 1/nm at %g eV, and light of that energy is scattered by at most 2k = %.4g 1/nm: check the unit of q (\"q_unit\") and the energy", most, c.Energy, end)
	}
	return nil
}

func sortedKeys(m map[string]int) (list []string) {
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// reducer returns the data without frames and where its pixels are. wedge is the half width in degrees of the wedges of an anisotropy, and 0
// for other data.
func reducer(set *scatter.Set, r Reading, wedge float64) (*Data, *layout, []string, error) {
	if set.Geometry.Distance > 0 {
		d := &Data{Keep: set.Keep}
		d.Detector, d.Geometry = detectorOf(set)
		l, err := d.layOut(r.SolidAngle)
		return d, l, nil, err
	}
	c := &set.Curves[0]
	size := sampleSize
	if r.Round {
		size = 0
	}
	d, l := fanned(c.Q, c.Chi, size, wedge)
	return d, l, []string{`the detector is not known ("geometry" with distance, pixel, beam and shape, and masks): the model is averaged over all directions in each bin, without a blur`}, nil
}

// weights returns the sums of the weights of the pixels in bins: their number, or that of solid angles.
func (l *layout) weights(b *Bins) []float64 {
	out := make([]float64, b.length())
	for i := range out {
		for _, p := range b.Pixel[b.From[i]:b.From[i+1]] {
			out[i] += l.weight[p]
		}
	}
	return out
}

// curve is a reduced pattern while its likelihood is found.
type curve struct {
	*scatter.Curve
	frame   Frame
	weights []float64 // of the pixels in each bin, which mean something if the detector is known
	known   bool      // whether it is
	zeros   int
}

// compare chooses the likelihood of a curve, and says which it is.
func (c *curve) compare(loss string, all []*curve) (how string, err error) {
	f := &c.frame
	switch {
	case loss == "student" && !c.known:
		return "", fmt.Errorf(`"loss": "student" needs the number of pixels in each bin: give "geometry" with distance, pixel, beam and shape`)
	case loss != "" && noises[loss].errors && c.Errors == nil:
		return "", fmt.Errorf(`"loss": %q needs errors, and there are none: leave it out`, loss)
	case loss == "student":
		f.Noise, f.Gains = loss, ones(len(c.I))
		for i := range c.I {
			f.Freedom = append(f.Freedom, float64(f.Bins.From[i+1]-f.Bins.From[i]-1))
		}
		return "the errors of bins are taken for the scatter of their pixels: Student's t", nil
	case loss != "" && loss != "poisson":
		f.Noise, f.Gains = loss, ones(len(c.I))
		return "the bins are compared by the likelihood " + loss, nil
	case c.Errors == nil && loss == "":
		f.Noise, f.Gains, f.Counts = "quasi", ones(len(c.I)), c.I
		if c.known {
			f.Gains, f.Counts = c.weights, product(c.I, c.weights)
		}
		return "there are no errors: errors estimated from the residuals, with a variance in proportion to the mean", nil
	case c.Errors != nil && c.counted(all):
		return "intensities and errors give back sums of counts, which are compared by their Poisson distribution", nil
	case c.known && c.lattice(all):
		return "the intensities of bins are those of whole counts less a constant: they are compared by their Poisson distribution", nil
	case loss == "poisson":
		return "", fmt.Errorf(`the bins are no sums of counts, as "loss": "poisson" has them: leave it out`)
	case c.known && c.varies():
		return "errors are the scatter of pixels in bins: a variance in proportion to the mean was fitted to them", nil
	}
	f.Noise, f.Gains = "gaussian", ones(len(c.I))
	for i, e := range c.Errors {
		if e == 0 && !math.IsNaN(c.I[i]) {
			c.zeros++
		}
	}
	return "the bins are compared by their errors", nil
}

func product(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] * b[i]
	}
	return out
}

func zeroNotes(list []*curve) (notes []string) {
	n := 0
	for _, c := range list {
		n += c.zeros
	}
	if n > 0 {
		notes = append(notes, fmt.Sprintf("%d bins have an error of 0 and no other knowledge of it: they are left out", n))
	}
	return notes
}

// counted finds sums of counts behind intensities and errors, sum = (I/dI)^2 of exposure times pixels = I/dI^2, and makes the frame one of
// counts.
func (c *curve) counted(all []*curve) bool {
	if c.known {
		if unit := c.unit(); unit > 0 {
			gains := make([]float64, len(c.I))
			for i, w := range c.weights {
				gains[i] = unit * w
			}
			return c.sums(gains)
		}
	}
	whole, small, least, most := 0, 0, math.Inf(1), 0.0
	gains := make([]float64, len(c.I))
	for i, x := range c.I {
		gains[i] = c.gain(i)
		if sum := gains[i] * x; sum > 0 && sum < 300 {
			small++
			least, most = min(least, sum), max(most, sum)
			if math.Abs(sum-math.Round(sum)) < max(0.02, 2e-4*sum) {
				whole++
			}
		}
	}
	if small < 8 || 20*whole < 19*small || most < 1.05*least { // errors of one share are no counts
		return false
	}
	for i := range gains { // bins without counts have the pixels of other exposures or energies
		for _, o := range all {
			if gains[i] == 0 && i < len(o.I) && c.Exposure > 0 && o.Exposure > 0 {
				gains[i] = o.gain(i) / o.Exposure * c.Exposure
			}
		}
		if gains[i] == 0 && !math.IsNaN(c.I[i]) {
			c.zeros++
		}
	}
	return c.sums(gains)
}

// gain is the exposure times the pixels of bin i, 0 if it has no counts.
func (c *curve) gain(i int) float64 {
	if x, e := c.I[i], c.Errors[i]; x > 0 && e > 0 {
		return x / (e * e)
	}
	return 0
}

// unit returns the exposure of a pixel of the detector if it is the same in nearly all bins, and else 0.
func (c *curve) unit() float64 {
	var list []float64
	for i, w := range c.weights {
		if g := c.gain(i); g > 0 && w > 0 {
			list = append(list, g/w)
		}
	}
	if len(list) < 3 {
		return 0
	}
	slices.Sort(list)
	middle, near := list[len(list)/2], 0
	for _, x := range list {
		if math.Abs(x/middle-1) < 2e-3 {
			near++
		}
	}
	if 10*near < 9*len(list) {
		return 0
	}
	if c.Exposure > 0 && math.Abs(middle/c.Exposure-1) < 2e-3 {
		return c.Exposure
	}
	return middle
}

// sums makes the frame one of counts, given the exposure times the pixels of each bin, and reports whether the counts are whole.
func (c *curve) sums(gains []float64) bool {
	counts, whole, small := make([]float64, len(c.I)), 0, 0
	for i, g := range gains {
		x := c.I[i] * g
		counts[i] = math.Round(x)
		if g == 0 {
			counts[i] = math.NaN()
		} else if x > 0 && x < 300 {
			small++
			if math.Abs(x-counts[i]) < max(0.02, 1e-3*x) {
				whole++
			}
		}
	}
	if small > 0 && 10*whole < 9*small {
		return false
	}
	c.frame.Noise, c.frame.Gains, c.frame.Counts, c.frame.Errors = "poisson", gains, counts, nil
	return true
}

// varies fits the variance a mean + b of a pixel to the scatter of the pixels of bins, averaged over the directions of each q, and scales
// the numbers to have the variance of counts. It reports whether there were bins enough.
func (c *curve) varies() bool {
	columns := len(c.Q)
	var mean, variance []float64
	for k := range columns {
		x, v, n := 0.0, 0.0, 0.0
		for i := k; i < len(c.I); i += columns {
			pixels := float64(c.frame.Bins.From[i+1] - c.frame.Bins.From[i])
			if pixels < 2 || math.IsNaN(c.I[i]) || math.IsNaN(c.Errors[i]) {
				continue
			}
			x, n = x+c.I[i], n+1
			v += c.Errors[i] * c.Errors[i] * c.weights[i] * pixels / (pixels - 1)
		}
		if n > 0 {
			mean, variance = append(mean, x/n), append(variance, v/n)
		}
	}
	a, b := line(mean, variance)
	if len(mean) < 5 || !(a > 0) {
		return false
	}
	for i, x := range c.I { // what was subtracted is at least as much as the lowest number is below 0
		if c.weights[i] > 0 && -x*a > b {
			b = -x * a
		}
	}
	f := &c.frame
	f.Noise, f.Errors, f.Gains, f.Offsets = "scaled", nil, make([]float64, len(c.I)), make([]float64, len(c.I))
	for i, w := range c.weights {
		f.Gains[i], f.Offsets[i] = w/a, w*max(b, 0)/(a*a)
	}
	f.Counts = product(c.I, f.Gains)
	return true
}

// line fits y = a x + b with relative errors that are the same everywhere, without points that are far off.
func line(x, y []float64) (a, b float64) {
	use := slices.Repeat([]bool{true}, len(x))
	fitted := slices.Clone(y)
	for range 10 {
		var s, sx, sy, sxx, sxy float64
		for i := range x {
			if !use[i] {
				continue
			}
			w := 1 / (fitted[i] * fitted[i])
			s, sx, sy, sxx, sxy = s+w, sx+w*x[i], sy+w*y[i], sxx+w*x[i]*x[i], sxy+w*x[i]*y[i]
		}
		det := s*sxx - sx*sx
		if !(det > 0) {
			return 0, 0
		}
		a, b = (s*sxy-sx*sy)/det, (sxx*sy-sx*sxy)/det
		for i := range x {
			fitted[i] = cmp.Or(max(a*x[i]+b, 1e-3*y[i]), 1)
			use[i] = y[i] > fitted[i]/3 && y[i] < 3*fitted[i]
		}
	}
	return a, b
}
