// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
)

// departures returns the common differences between a measurement and its model, as
// changes of the residuals. The changes are finite, because a beam centre that is off by
// one pixel does not change a logarithm by a small amount.
func (c *inspection) departures() []check.Direction {
	all := []check.Direction{{Kind: "beam centre", Columns: [][]float64{c.odd(c.moved(0, 1), c.moved(0, -1)), c.odd(c.moved(1, 0), c.moved(-1, 0))},
		Say: func(p, sd []float64) (string, string) {
			return fmt.Sprintf("a beam centre shifted by about %s pixels along x and %s along y (a rough estimate) would fit better", check.Rough(p[0]), check.Rough(p[1])), "correct the centre of the images"
		}}}
	for _, variance := range []float64{0.1, 0.5} {
		all = append(all, check.Direction{Kind: "blur", Columns: [][]float64{c.change(c.blurred(variance), variance)}, Say: sayBlur, Holds: about(variance)})
	}
	for _, depth := range []float64{0.1, 1} {
		all = append(all, c.edges(depth))
	}
	for _, share := range []float64{0.1, 0.5, 0.9} {
		all = append(all, c.background(share))
	}
	all = append(all, c.slopes()...)
	all = append(all, c.factor("scale", func(int) float64 { return 1 }, func(p, sd []float64) (string, string) {
		return fmt.Sprintf("intensities that all differ by about %s %% (a rough estimate) would fit better", check.Rough(100*p[0])), "add the parameter scale"
	}))
	brightest := slices.Max(c.mean)
	all = append(all, c.factor("saturation", func(i int) float64 { return -c.all[i] / brightest }, func(p, sd []float64) (string, string) {
		return fmt.Sprintf("a detector whose brightest pixels lack about %.2g %% of their intensity, and the others less in proportion (a rough estimate), would fit better", 100*p[0]), "check the dead time and the range of the detector"
	}))
	if len(c.pattern.Energies) > 1 {
		all = append(all, c.flux())
	}
	return all
}

// about accepts coefficients up to three times the amount tried.
func about(amount float64) func(coef []float64) bool {
	return func(coef []float64) bool { return math.Abs(coef[0]) <= 3*amount }
}

// onScale converts an intensity to the scale of residual k.
func (c *inspection) onScale(k int, intensity float64) float64 {
	if c.Loss == LogLoss {
		sigma := c.scale[k] / (c.mean[k] + c.Eps)
		return math.Log(max(intensity, 0)+max(c.Eps, 1e-300)) / sigma
	}
	return intensity / c.scale[k]
}

// change returns the change of the residuals when the predicted images are replaced by
// other, per unit of an amount.
func (c *inspection) change(other []float64, amount float64) []float64 {
	out := make([]float64, len(c.index))
	for k, i := range c.index {
		if d := (c.onScale(k, other[i]) - c.onScale(k, c.all[i])) / amount; !math.IsNaN(d) && !math.IsInf(d, 0) {
			out[k] = d
		}
	}
	return out
}

// odd returns half the difference between the changes in two opposite directions.
func (c *inspection) odd(forth, back []float64) []float64 {
	a, b := c.change(forth, 1), c.change(back, 1)
	for k := range a {
		a[k] = (a[k] - b[k]) / 2
	}
	return a
}

// moved returns the images shifted by whole pixels. Pixels at the border, and those next
// to undetected pixels, keep their values.
func (c *inspection) moved(dy, dx int) []float64 {
	shape := c.pattern.Intensity.Shape()
	ny, nx := shape[2], shape[3]
	out := slices.Clone(c.all)
	for i := range out {
		_, y, x := c.pixel(i)
		if y-dy < 0 || y-dy >= ny || x-dx < 0 || x-dx >= nx {
			continue
		}
		if v := c.all[i-dy*nx-dx]; !math.IsNaN(v) {
			out[i] = v
		}
	}
	return out
}

// blurred returns the images convolved with a kernel of the given variance (pixels^2)
// along each axis.
func (c *inspection) blurred(variance float64) []float64 {
	out := slices.Clone(c.all)
	left, right, up, down := c.moved(0, -1), c.moved(0, 1), c.moved(-1, 0), c.moved(1, 0)
	for i, v := range c.all {
		out[i] += variance / 2 * (left[i] + right[i] + up[i] + down[i] - 4*v)
	}
	return out
}

func sayBlur(p, sd []float64) (string, string) {
	if p[0] < 0 {
		return fmt.Sprintf("a model that is sharper by about %.2g pixels (a rough estimate) would fit better", math.Sqrt(-p[0])), "the model blurs, by a window or by its own extent: check both"
	}
	return fmt.Sprintf("a blur of about %.2g pixels (standard deviation, a rough estimate) would fit better", math.Sqrt(p[0])), "put the resolution of the detector into the model, or deconvolve"
}

// square returns the square of q at pixel i in 1/nm^2.
func (c *inspection) square(i int) float64 {
	_, y, x := c.pixel(i)
	return c.pattern.QY[y]*c.pattern.QY[y] + c.pattern.QX[x]*c.pattern.QX[x]
}

// edges returns the factor exp(-(q w)^2) of an interface with Gaussian width w, where w
// is chosen such that a typical q^2 w^2 equals depth.
func (c *inspection) edges(depth float64) check.Direction {
	var q2 []float64
	for _, i := range c.index {
		q2 = append(q2, c.square(i))
	}
	slices.Sort(q2)
	amount := depth / max(q2[len(q2)/2], 1e-300)
	other := slices.Clone(c.all)
	for i := range other {
		other[i] *= math.Exp(-c.square(i) * amount)
	}
	holds := about(amount)
	if c.Loss == LogLoss { // the residuals are linear in the exponent, so any amount is valid
		holds = nil
	}
	return check.Direction{Kind: "edges", Columns: [][]float64{c.change(other, amount)}, Holds: holds, Say: func(p, sd []float64) (string, string) {
		if p[0] < 0 {
			return fmt.Sprintf("edges that are sharper by about %.2g nm (a rough estimate), whose intensity falls off more slowly with q, would fit better", math.Sqrt(-p[0])), "make the edges of the model narrower (width), or its voxels smaller"
		}
		return fmt.Sprintf("edges that are softer by about %.2g nm (a rough estimate), whose intensity falls off faster with q, would fit better", math.Sqrt(p[0])), "make the edges of the model wider (width)"
	}}
}

// background is a constant as large as a quantile of the predictions.
func (c *inspection) background(share float64) check.Direction {
	sorted := slices.Sorted(slices.Values(c.mean))
	amount := max(sorted[int(share*float64(len(sorted)-1))], 1e-300)
	other := slices.Clone(c.all)
	for i := range other {
		other[i] += amount
	}
	return check.Direction{Kind: "background", Columns: [][]float64{c.change(other, amount)}, Holds: about(amount), Say: func(p, sd []float64) (string, string) {
		return fmt.Sprintf("a constant background of about %s (a rough estimate) would fit better", check.Rough(p[0])), "add the parameter background, or take it off"
	}}
}

// factor multiplies intensities by 1 + p f.
func (c *inspection) factor(kind string, f func(i int) float64, say func(p, sd []float64) (string, string)) check.Direction {
	const amount = 0.1
	other := slices.Clone(c.all)
	for i := range other {
		other[i] *= 1 + amount*f(i)
	}
	return check.Direction{Kind: kind, Columns: [][]float64{c.change(other, amount)}, Say: say}
}

// flux has one factor for each energy.
func (c *inspection) flux() check.Direction {
	flux := check.Direction{Kind: "flux", Say: func(p, sd []float64) (string, string) {
		worst := 0
		for e := range p {
			if z := math.Abs(p[e] / sd[e]); z > math.Abs(p[worst]/sd[worst]) {
				worst = e
			}
		}
		return fmt.Sprintf("a flux that differs between energies would fit better, most at %.6g eV, by about %s %% (a rough estimate)", c.pattern.Energies[worst], check.Rough(100*p[worst])), "normalise each energy by its flux; check the optical constants there"
	}}
	for e := range c.pattern.Energies {
		one := c.factor("flux", func(i int) float64 {
			image, _, _ := c.pixel(i)
			if image/c.pattern.Intensity.Shape()[1] == e {
				return 1
			}
			return 0
		}, nil)
		flux.Columns = append(flux.Columns, one.Columns...)
	}
	return flux
}

// slopes returns a rotation of the images and a stretch of q, from the differences
// between neighbouring pixels.
func (c *inspection) slopes() []check.Direction {
	shape := c.pattern.Intensity.Shape()
	right, left, down, up := c.moved(0, 1), c.moved(0, -1), c.moved(1, 0), c.moved(-1, 0)
	turned, stretched := slices.Clone(c.all), slices.Clone(c.all)
	const angle, factor = 0.02, 0.01 // rotation in radians, relative stretch of q
	for i, v := range c.all {
		_, j, k := c.pixel(i)
		y, x := float64(j-shape[2]/2), float64(k-shape[3]/2)
		dx, dy := (right[i]-left[i])/2, (down[i]-up[i])/2 // moved images, so the slopes have opposite sign
		turned[i] = max(v+angle*(x*dy-y*dx), 0)
		stretched[i] = max(v+factor*(x*dx+y*dy), 0)
	}
	degree := 180 / math.Pi
	return []check.Direction{
		{Kind: "rotation", Columns: [][]float64{c.change(turned, angle)}, Say: func(p, sd []float64) (string, string) {
			return fmt.Sprintf("images that are turned by about %s degrees (a rough estimate) would fit better", check.Rough(degree*p[0])), "check the polarization angle and how the detector was mounted"
		}},
		{Kind: "scale of q", Columns: [][]float64{c.change(stretched, factor)}, Say: func(p, sd []float64) (string, string) {
			return fmt.Sprintf("a scale of q that differs by about %s %% (a rough estimate) would fit better", check.Rough(100*p[0])), "check the distance of the detector and the size of the voxels"
		}},
	}
}
