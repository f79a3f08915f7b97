// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// ContourSettings are the settings of Contours. The zero value is the default.
type ContourSettings struct {
	// The Settings are those of the fit, with its Fixed, Tied and Priors.
	Settings
	// Levels are the probabilities that the regions cover both parameters at once. Where there are none, they are 1 - exp(-1/2), 0.6827 and 0.95; the first, 0.3935, has the
	// errors of one standard deviation as its extent; ROOT calls it the contour of 1 sigma.
	Levels []float64
	// Points is the number of points of each contour, without those that show where it meets a bound. Default 36.
	Points int
}

// Contour is the boundary of a region of two parameters within which the cost, minimised over the others, stays within a level.
type Contour struct {
	Names [2]string
	Level float64
	// X and Y are values of the parameters along the boundary.
	X, Y []float64
	// Open says where the region ends at a bound, or is not closed by the data as far as 30 standard deviations.
	Open []bool
}

// farthest is the number of standard deviations to which contours are followed.
const farthest = 30

// Contours returns the profile-likelihood regions of two parameters around the fit r of p, which was made with the same settings, one for each level. Points
// lie on rays from the fit that the covariance spaces evenly, so that a region must be visible from there, and on further rays to where a contour meets a
// bound. A fit at a bound is the last point of its contours.
//
// It returns an error if it meets a lower cost than that of r; fit again from there.
func Contours(ctx context.Context, p *Problem, r *Result, a, b string, s ContourSettings) (_ []Contour, err error) {
	defer given.Caught(&err)
	if err := given.Args("optim.Contours", "ctx", ctx, "p", p, "r", r); err != nil {
		return nil, err
	}
	if s.Points <= 0 {
		s.Points = 36
	}
	if s.Levels == nil {
		s.Levels = []float64{-math.Expm1(-0.5), 0.6827, 0.95}
	}
	levels := slices.Sorted(slices.Values(s.Levels))
	f, err := newProfiler(p, r, s.Settings)
	if err != nil {
		return nil, err
	}
	w, err := f.plane(a, b)
	if err != nil {
		return nil, err
	}
	out := make([]Contour, len(levels))
	widths := make([]float64, len(levels))
	for l, level := range levels {
		out[l] = Contour{Names: [2]string{a, b}, Level: level}
		if widths[l], err = r.allWidth(level, 2); err != nil {
			return nil, err
		}
	}
	return out, w.around(ctx, s.Points, widths, out)
}

// plane is two parameters, with a triangle that takes the unit circle to one standard deviation.
type plane struct {
	*profiler
	names  [2]string
	at     [2]int
	l      [3]float64 // l11, l21, l22
	reach  float64    // along the current ray, to the first bound
	edge   int        // what ends the current ray: 1 is the distance farthest, and 2 to 5 are the bounds
	dx, dy float64
}

func (f *profiler) plane(a, b string) (*plane, error) {
	w := &plane{profiler: f, names: [2]string{a, b}}
	for k, name := range w.names {
		i, err := f.p.index(name)
		if err != nil {
			return nil, err
		}
		_, fixed := f.s.Fixed[name]
		if _, tied := f.s.Tied[name]; tied || fixed || a == b {
			return nil, fmt.Errorf("optim: a contour of %s and %s needs two different parameters that are neither fixed nor tied", a, b)
		}
		w.at[k] = i
	}
	n := len(f.r.X)
	if f.r.Cov == nil {
		return nil, fmt.Errorf("optim: a contour needs a covariance to begin with, but a fit by solver lsmr has none: fit with solver exact")
	}
	va, vb, c := f.r.Cov[w.at[0]*n+w.at[0]], f.r.Cov[w.at[1]*n+w.at[1]], f.r.Cov[w.at[0]*n+w.at[1]]
	l11 := math.Sqrt(va)
	l22 := math.Sqrt(max(vb-c*c/va, 1e-12*vb))
	if w.l = [3]float64{l11, c / l11, l22}; !linalg.AllFinite(w.l[:]) || l11 == 0 || l22 == 0 {
		return nil, fmt.Errorf("optim: the errors of %s and %s are %.3g and %.3g: a contour needs errors to begin with", a, b, l11, math.Sqrt(vb))
	}
	return w, nil
}

// place returns the parameters at a distance along the ray.
func (w *plane) place(t float64) (x, y float64) {
	return w.r.X[w.at[0]] + t*w.dx, w.r.X[w.at[1]] + t*w.dy
}

// aim sets the ray, how far it goes within the bounds, and which of them ends it.
func (w *plane) aim(angle float64) {
	sin, cos := math.Sincos(angle)
	w.dx, w.dy = w.l[0]*cos, w.l[1]*cos+w.l[2]*sin
	w.reach, w.edge = farthest, 1
	for k, d := range []float64{w.dx, w.dy} {
		x := w.r.X[w.at[k]]
		for side, bound := range [][]float64{w.p.Lower, w.p.Upper} {
			if outward := float64(2*side - 1); bound != nil && outward*d > 0 && outward*(bound[w.at[k]]-x) < w.reach*math.Abs(d) {
				w.reach, w.edge = max(0, (bound[w.at[k]]-x)/d), 2+2*k+side
			}
		}
	}
}

// rayPoint is a place on a ray with the tau there.
type rayPoint struct {
	t, tau float64
	x      []float64
}

// cross finds where tau is the width, beyond a point with a smaller one.
func (w *plane) cross(ctx context.Context, inside rayPoint, width float64) (rayPoint, bool, error) {
	step := max(width-inside.tau, 0.05)
	var beyond rayPoint
	for {
		t := min(inside.t+step, w.reach)
		next, err := w.measure(ctx, t, inside.x)
		if err != nil {
			return next, false, err
		}
		if !(next.tau < width) {
			beyond = next
			break
		}
		if t == w.reach {
			return next, true, nil
		}
		rate := (next.tau - inside.tau) / (next.t - inside.t)
		inside, step = next, min(max(1.1*(width-next.tau)/max(rate, 1e-3), 0.02), 4*step)
	}
	fa, fb := inside.tau-width, beyond.tau-width
	for range 50 {
		if math.Abs(beyond.tau-width) < 1e-5*width || beyond.t-inside.t < 1e-7*max(1, beyond.t) {
			break
		}
		part := -fa / (fb - fa)
		if !(part > 0.01 && part < 0.99) {
			part = 0.5
		}
		c, err := w.measure(ctx, inside.t+part*(beyond.t-inside.t), inside.x)
		if err != nil {
			return c, false, err
		}
		fc := c.tau - width
		if math.Abs(fc) < 1e-5*width {
			return c, false, nil
		}
		if fc < 0 {
			inside, fa = c, fc
			fb /= 2
			continue
		}
		beyond, fb = c, fc
		fa /= 2
	}
	return beyond, false, nil
}

// measure fits with both parameters held; tau is infinite where the model does not exist.
func (w *plane) measure(ctx context.Context, t float64, from []float64) (rayPoint, error) {
	x, y := w.place(t)
	out := rayPoint{t: t, tau: inf, x: from}
	r, err := w.fitAt(ctx, from, map[string]float64{w.names[0]: x, w.names[1]: y})
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		return out, nil
	}
	out.x = r.X
	out.tau, err = w.tau(r.Cost, r, func() string { return fmt.Sprintf("%s at %g and %s at %g", w.names[0], x, w.names[1], y) })
	return out, err
}
