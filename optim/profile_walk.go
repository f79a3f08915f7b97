// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

const (
	// farOff is the distance to which a profile is followed, in units of the value or of the standard error.
	farOff = 1e6
	// trusted is the ratio of a standard error to its value up to which the error sets the first step of a profile.
	trusted = 1e3
	// longestWalk is the largest number of steps of a profile on one side.
	longestWalk = 60
	// mostReopened is the number of times that a side is found to be open after all and followed further.
	mostReopened = 8
)

// rise is how far the cost may rise within the interval of a level.
type rise struct {
	width float64 // tau far from bounds
	level float64 // probability of an interval that narrows near bounds; 0 keeps the width
}

// risesOf are the rises of levels.
func risesOf(r *Result, levels []IntervalLevel) (out []rise, err error) {
	for _, l := range levels {
		l.Level = orDefault(l.Level, 0.95)
		two := rise{level: l.Level}
		if l.OneSided {
			l.Level, two.level = 2*l.Level-1, 0
		}
		if two.width, err = r.halfWidth(l.Level); err != nil {
			return nil, err
		}
		out = append(out, two)
	}
	return out, nil
}

// within reports whether a point is within the interval of a rise.
func (f *profiler) within(p ProfilePoint, of rise) bool {
	return f.excess(p, of) < 0
}

// excess is by how much the tau of a point is above that at which an interval ends there, negative within. It is +Inf where the model does not exist.
func (f *profiler) excess(p ProfilePoint, of rise) float64 {
	if math.IsNaN(p.Tau) {
		return inf
	}
	return math.Abs(p.Tau) - f.widthAt(p.Value, of)
}

// widthAt is the tau at which an interval ends if it ends at a value of what is held.
func (f *profiler) widthAt(value float64, of rise) float64 {
	below, above := (value-f.held.lower)/f.held.sd, (f.held.upper-value)/f.held.sd
	if of.level == 0 || !(f.held.sd > 0) || math.IsInf(f.held.sd, 1) || !(min(below, above) < of.width) {
		return of.width
	}
	return boundedWidth(f.r.errorCDF(), of.level, of.width, max(below, 0), max(above, 0))
}

// intervals are those of all rises.
func (f *profiler) intervals(ctx context.Context, name string) ([]Interval, error) {
	if err := f.choose(name); err != nil {
		return nil, err
	}
	fit := ProfilePoint{Value: f.held.value, Cost: f.r.Cost, X: slices.Clone(f.r.X)}
	out := make([]Interval, len(f.rises))
	for l := range out {
		out[l] = Interval{Name: name, Value: fit.Value}
	}
	var points []ProfilePoint
	for _, sign := range []float64{-1, 1} {
		w := &walk{profiler: f, sign: sign, points: []ProfilePoint{fit}}
		if err := w.out(ctx); err != nil {
			return nil, err
		}
		for l, of := range f.rises {
			end, open, err := w.end(ctx, of)
			if err != nil {
				return nil, err
			}
			if out[l].Upper, out[l].UpperOpen = end, open; sign < 0 {
				out[l].Lower, out[l].LowerOpen = end, open
			}
		}
		if sign < 0 {
			slices.Reverse(w.points)
			points = w.points
		} else {
			points = append(points, w.points[1:]...)
		}
	}
	for l := range out {
		out[l].Points = slices.Clone(points)
	}
	return out, nil
}

// walk is a profile on one side of the fit.
type walk struct {
	*profiler
	sign   float64
	points []ProfilePoint // outwards from the fit
	bound  float64        // of what is held
}

// widest is the largest of the rises.
func (w *walk) widest() rise {
	return slices.MaxFunc(w.rises, func(a, b rise) int { return cmp.Compare(a.width, b.width) })
}

// out follows the profile from the fit until the cost has risen by the widest of the rises, or up to the bound, or so far that rounding would show.
func (w *walk) out(ctx context.Context) error {
	if w.bound = w.held.upper; w.sign < 0 {
		w.bound = w.held.lower
	}
	fit, of := w.points[0], w.widest()
	step := of.width * w.held.sd
	if own := 0.1 * max(math.Abs(fit.Value), 1e-3); !(w.held.sd <= trusted*math.Abs(fit.Value)) && !(step > 0 && step < own) {
		step = own
	} else {
		step = w.held.sd
	}
	far, reopened := farOff*max(step, math.Abs(fit.Value)), 0
	for range longestWalk {
		inside := w.points[len(w.points)-1]
		if w.atBound(inside.Value) || math.Abs(inside.Value-fit.Value) > far {
			return nil
		}
		step = max(step, 0x1p-50*math.Abs(inside.Value)) // which moves it
		next, err := w.step(ctx, inside.Value+w.sign*step)
		if err != nil || next.blurred {
			return err
		}
		if w.within(next, of) {
			// The rate of the last step, to a tau that is larger by 1; tau may flatten for ever.
			grown := math.Abs(next.Value-inside.Value) / max(math.Abs(next.Tau)-math.Abs(inside.Tau), 1e-3)
			step = min(max(grown, 0.5*step), 4*step)
			continue
		}
		open, err := w.reopened(ctx, of)
		if err != nil {
			return err
		}
		if reopened++; !open || reopened > mostReopened {
			return nil
		}
	}
	return nil
}

func (w *walk) atBound(value float64) bool { return w.sign*(value-w.bound) >= 0 }

// step adds the best fit at a value, or at the bound if that is nearer.
func (w *walk) step(ctx context.Context, at float64) (ProfilePoint, error) {
	if w.atBound(at) {
		at = w.bound
	}
	next, err := w.from(ctx, at, len(w.points)-1)
	if err == nil && !next.blurred {
		w.points = append(w.points, next)
	}
	return next, err
}

// from is the best fit at a value, from ahead of a point and, if that is not within the widest rise, from the point itself.
func (w *walk) from(ctx context.Context, at float64, i int) (ProfilePoint, error) {
	near := w.points[i]
	next, err := w.at(ctx, at, ProfilePoint{X: w.ahead(at, i)}, w.sign)
	if err == nil && !next.blurred && !w.within(next, w.widest()) {
		return w.better(ctx, next, near.X)
	}
	return next, err
}

// ahead is where the line through a point and an earlier one, at least as far from it as the value is, leads, within the bounds.
func (w *walk) ahead(at float64, i int) []float64 {
	b := w.points[i]
	k := i
	for k > 0 && math.Abs(b.Value-w.points[k].Value) < math.Abs(at-b.Value) {
		k--
	}
	x, t := slices.Clone(b.X), 0.0
	if k < i {
		t = (at - b.Value) / (b.Value - w.points[k].Value)
	}
	for n := range x {
		if moved := x[n] + t*(x[n]-w.points[k].X[n]); linalg.Finite(moved) {
			x[n] = w.inBounds(n, moved)
		}
	}
	return x
}

func (w *walk) inBounds(i int, x float64) float64 {
	if w.p.Lower != nil {
		x = max(x, w.p.Lower[i])
	}
	if w.p.Upper != nil {
		x = min(x, w.p.Upper[i])
	}
	return x
}

// better returns the lower one of a point and a fit at its value from another start.
func (w *walk) better(ctx context.Context, p ProfilePoint, start []float64) (ProfilePoint, error) {
	other, err := w.at(ctx, p.Value, ProfilePoint{X: start}, w.sign)
	if err != nil || math.IsNaN(other.Tau) || !math.IsNaN(p.Tau) && math.Abs(other.Tau) >= math.Abs(p.Tau) {
		return p, err
	}
	return other, nil
}

// end is where the interval of a rise ends: beyond the outermost point within it.
func (w *walk) end(ctx context.Context, of rise) (end float64, open bool, err error) {
	i := len(w.points) - 1
	for i > 0 && !w.within(w.points[i], of) {
		i--
	}
	switch last := i == len(w.points)-1; {
	case last && w.atBound(w.points[i].Value):
		return w.bound, true, nil
	case last:
		return w.sign * inf, true, nil
	}
	end, err = w.close(ctx, i, of)
	return end, false, err
}

// close finds where an interval ends between a point within it and the next, and adds the points on the way.
func (w *walk) close(ctx context.Context, i int, of rise) (float64, error) {
	fit := w.points[0].Value
	fa, fb := w.excess(w.points[i], of), w.excess(w.points[i+1], of)
	for range 60 {
		a, b := w.points[i], w.points[i+1]
		if math.Abs(b.Value-a.Value) <= max(1e-8*math.Abs(b.Value-fit), 0x1p-50*math.Abs(b.Value)) || fb == 0 {
			break
		}
		at := a.Value - fa*(b.Value-a.Value)/(fb-fa)
		if part := (at - a.Value) / (b.Value - a.Value); !(part > 0.01 && part < 0.99) {
			at = a.Value + (b.Value-a.Value)/2
		}
		c, err := w.from(ctx, at, i)
		if err != nil {
			return at, err
		}
		if w.sign*(c.Value-a.Value) <= 0 || w.sign*(b.Value-c.Value) <= 0 { // a quantity that was not reached
			break
		}
		w.points = slices.Insert(w.points, i+1, c)
		fc := w.excess(c, of)
		if math.Abs(fc) < 1e-7*of.width {
			return c.Value, nil
		}
		if fc >= 0 {
			fb = fc
			fa /= 2 // Illinois: keep the other end moving
			continue
		}
		i, fa = i+1, fc
	}
	return w.points[i+1].Value, nil
}

// reopened closes in on where the profile leaves a rise, and looks beyond for better fits where that may be too early: where the cost jumps, or the data do not determine all parameters. It adds a
// point within the rise, in the place of those beyond it, and returns true if there is one.
func (w *walk) reopened(ctx context.Context, of rise) (bool, error) {
	end, err := w.close(ctx, len(w.points)-2, of)
	if err != nil {
		return false, err
	}
	i := len(w.points) - 1
	for i > 0 && !w.within(w.points[i], of) {
		i--
	}
	jump := i+1 < len(w.points) && !(w.excess(w.points[i+1], of) < 0.01*of.width)
	if !jump && !w.loose() {
		return false, nil
	}
	at := end + w.sign*max(0.02*math.Abs(end-w.points[0].Value), 1e-6*math.Abs(end))
	if w.atBound(at) {
		at = w.bound
	}
	for _, start := range append([][]float64{w.ahead(at, i)}, w.starts(w.points[i])...) {
		next, err := w.at(ctx, at, ProfilePoint{X: start}, w.sign)
		if err != nil {
			return false, err
		}
		if w.within(next, of) && !next.blurred {
			w.points = append(w.points[:i+1], next)
			return true, nil
		}
	}
	return false, nil
}

// together is the correlation from which parameters may stand for each other.
const together = 0.95

// loose reports whether the data leave a parameter of the fit open, so that there may be other fits with the same curve: they do not determine it, or its error is as large as its value and another
// parameter follows it. The error of a background of nearly 0 is larger than its value, too, but nothing stands for it.
func (f *profiler) loose() bool {
	if len(f.r.Undetermined) > 0 {
		return true
	}
	n, c := len(f.r.X), f.r.Correlation()
	for i, sd := range f.r.SD() {
		if c == nil || !(sd > looseError*math.Abs(f.r.X[i])) {
			continue
		}
		for k := range n {
			if k != i && math.Abs(c[i*n+k]) > together {
				return true
			}
		}
	}
	return false
}

// otherStarts is the number of starts about the fit from which a profile that may have gone astray is looked for.
const otherStarts = 12

// starts are places to begin a fit from: a point nearby, the fit, and others about it within a factor of ten and either sign.
func (w *walk) starts(near ProfilePoint) [][]float64 {
	out := [][]float64{near.X, w.r.X}
	n := len(w.r.X)
	u, err := Sobol.points(otherStarts, n, 1)
	if err != nil {
		return out
	}
	for k := range otherStarts {
		x := slices.Clone(w.r.X)
		for i := range x {
			part := 2*u[k*n+i] - 1
			x[i] = w.inBounds(i, x[i]*math.Copysign(math.Pow(10, 4*math.Abs(part)-3), part+0.5))
		}
		out = append(out, x)
	}
	return out
}
