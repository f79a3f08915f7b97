// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// Settings are the settings of a fit. The zero value is the default.
type Settings struct {
	Scaling          Scaling      // dependence of contrast and offset on the angle. Default Individual
	Contrast, Offset []float64    // contrast and offset of each angle, for Constant
	Start            []float64    // start of the parameters of the motion, in the order of Setup.Names. Default DefaultStart
	Fixed            []string     // parameters that stay at Start
	Bounds           [][2]float64 // bounds of the parameters of the motion; nil for none
	// Penalties are priors that are added to the sum of squares, each square times PenaltyWeight; see Fit.PenaltyWeight.
	Penalties     []Penalty
	PenaltyWeight float64
	// Starts, if above 1, is the number of points that are tried besides Start: the best of many
	// Sobol points, by their distance to means of c2 over ranges of lag and age. Each is fitted to
	// a small part of the pairs, and the best few of these fits to all pairs. Of two components the
	// slower one becomes the reference. Default 1, for Start alone.
	Starts int
	// Near are further starts of all parameters of the motion, such as the fit at another q; the best minimum is taken.
	Near           [][]float64
	Seed           uint64 // seed of the Sobol points
	Threads        int    // number of threads. Default 1
	MaxEvaluations int    // largest number of passes over the data in each search. Default: as optim.Settings
	// Backend runs the passes over the pairs. The data stay on a GPU until the fit ends; small sets
	// of pairs, such as those of the first searches from several starts, stay on the CPU. Several
	// GPUs share the angles. Default: the CPU
	Backend ad.Backend
}

// Fit is a least-squares fit.
type Fit struct {
	Names []string  // names of the coefficients of contrast and offset, then of the free parameters of the motion
	X, SD []float64 // fitted values, and their standard deviations for independent entries with the errors given
	Cov   []float64 // covariance of the fitted values, row-major
	Theta []float64 // parameters of the motion, including those held fixed
	// Contrast and Offset hold the values of each angle.
	Contrast, Offset []float64
	SSQ              float64 // weighted sum of squares, with each pair counted once
	Points           int
	Passes           int // number of passes over all pairs
	Status           optim.Status
	// Outside says why the parameters have no meaning in the model, such as a rate below 0 within
	// the measurement; nil if they have one. See transport.Setup.Domain.
	Outside error
	// Others are further minima of a fit from several starts that have a meaning and whose
	// chi-square is larger by at most 10. If no errors were given, they are taken from the
	// residuals.
	Others []Minimum
	// Directions are the combinations of parameters that the data determine, the least certain
	// first.
	Directions []Direction
	Held       []string // free parameters of the motion that ended on a bound
	Warnings   []string // warnings about bounds that are reached, and about parameters that the data do not tell apart
}

// Minimum is a minimum of the sum of squares.
type Minimum struct {
	Theta []float64 // parameters of the motion, including those held fixed
	SSQ   float64
}

// fitter is a fit that is being made.
type fitter struct {
	*sums
	s         Settings
	ctx       context.Context
	names     []string    // parameters of the motion
	free      []int       // those that are fitted
	basis     [][]float64 // of contrast and of offset: a row for each angle; nil for Constant
	passes    int
	terms     []term
	hasErrors bool  // whether errors of the entries were given
	fault     error // of a GPU, which ends the fit: searches take any error for a step that is too long
}

// FitLeastSquares fits the data from Settings.Start, and from other points if Settings.Starts says so.
func FitLeastSquares(ctx context.Context, d Data, s Settings) (*Fit, error) {
	if err := given.Args("twotime.FitLeastSquares", "ctx", ctx); err != nil {
		return nil, err
	}
	if s.Scaling == "" {
		s.Scaling = Individual
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	f := &fitter{s: s, ctx: ctx, hasErrors: d.Sigma != nil}
	if err := f.prepare(&d); err != nil {
		return nil, err
	}
	var err error
	if f.sums, err = sumsOn(ctx, &d, s.Backend, max(1, s.Threads)); err != nil {
		return nil, err
	}
	defer f.release()
	if max(1, s.Starts) > 1 && len(f.free) > 0 {
		return f.several()
	}
	found, err := f.nearest()
	if err != nil {
		return nil, err
	}
	return f.finish(found)
}

// nearest searches from Start and from the points near the minimum, and returns the best minimum. An error is that of Start.
func (f *fitter) nearest() (*solution, error) {
	found, err := f.solve(f.s.Start)
	if f.fault != nil || f.ctx.Err() != nil {
		return nil, err
	}
	for _, start := range f.s.Near {
		one, failed := f.solve(start)
		if f.fault != nil {
			return nil, failed
		}
		if failed == nil && (err != nil || one.ssq < found.ssq) {
			found, err = one, nil
		}
	}
	return found, err
}

// solution is where a search ended.
type solution struct {
	theta  []float64
	ssq    float64
	status optim.Status
	active []int // of the free parameters: -1 at the lower bound, 1 at the upper one
}

// solve searches from a start. Bounds matter only if the minimum without them is outside.
func (f *fitter) solve(start []float64) (*solution, error) {
	out, err := f.search(start, false)
	if err != nil {
		return nil, err
	}
	f.canonical(out.theta)
	if f.s.Bounds == nil {
		return out, nil
	}
	inside := true
	for _, k := range f.free {
		v, b := out.theta[k], f.s.Bounds[k]
		inside = inside && v >= b[0] && v <= b[1]
		out.theta[k] = min(max(v, b[0]), b[1])
	}
	if inside {
		return out, nil
	}
	if f.data.Setup.Domain(out.theta) != nil {
		out.theta = start
	}
	return f.search(out.theta, true)
}

// search searches from a start, within the bounds or without them.
func (f *fitter) search(start []float64, bounded bool) (*solution, error) {
	c := newCoordinates(f.names, f.data.Setup.Times, f.s.Start, f.free)
	settings := optim.Settings{MaxEvaluations: f.s.MaxEvaluations}
	if !bounded { // roughly first, until exponents have their signs
		c.powers()
		settings.FTol, settings.NoPolish = 1e-3, true
	}
	found, err := optim.LeastSquares(f.ctx, f.problem(c, start, bounded), settings)
	var rough *solution
	if err == nil && !bounded {
		theta := c.theta(found.X)
		rough = &solution{theta: slices.Clone(theta), ssq: 2 * found.Cost, status: found.Status, active: make([]int, len(f.free))}
		c.bend(theta)
		settings.FTol, settings.NoPolish = 0, false
		found, err = optim.LeastSquares(f.ctx, f.problem(c, theta, bounded), settings)
	}
	if rough != nil && f.fault == nil && f.ctx.Err() == nil && (err != nil || !(2*found.Cost <= rough.ssq)) {
		return rough, nil // where exponents are so near 0 that the other coordinates overflow
	}
	if f.fault != nil {
		return nil, f.fault
	}
	if err != nil {
		return nil, f.atStart(start, err)
	}
	out := &solution{theta: c.theta(found.X), ssq: 2 * found.Cost, status: found.Status, active: make([]int, len(f.free))}
	if bounded {
		copy(out.active, found.Active)
		for i, k := range f.free {
			if a := out.active[i]; a != 0 { // not the exponential of its logarithm
				out.theta[k] = f.s.Bounds[k][(a+1)/2]
			}
		}
	}
	return out, nil
}

// atStart says what is wrong with a start from which a search failed.
func (f *fitter) atStart(start []float64, err error) error {
	var domain *transport.DomainError
	_, _, why := f.productsAt(start)
	if !errors.As(why, &domain) {
		return err
	}
	var values []string
	for k, name := range f.names {
		values = append(values, fmt.Sprintf("%s %.5g", name, start[k]))
	}
	return fmt.Errorf("twotime: the search cannot begin at %s with q = %g 1/angstrom and frames from %g to %g s: %w: check the units, or start elsewhere",
		strings.Join(values, ", "), f.data.Setup.Q, f.data.Setup.Times[0], f.data.Setup.Times[len(f.data.Setup.Times)-1], domain)
}

// problem is the search in some coordinates as one of least squares.
func (f *fitter) problem(c *coordinates, start []float64, bounded bool) *optim.Problem {
	n := len(f.free)
	p := &optim.Problem{M: n + 1, N: n, Start: c.at(start)}
	for i, k := range f.free {
		p.Names = append(p.Names, f.names[k])
		if bounded {
			limit := func(v float64) float64 {
				if isRate(f.names[k]) {
					return math.Log(v)
				}
				return v
			}
			p.Lower, p.Upper = append(p.Lower, limit(f.s.Bounds[k][0])), append(p.Upper, limit(f.s.Bounds[k][1]))
			p.Start[i] = min(max(p.Start[i], p.Lower[i]), p.Upper[i])
		}
	}
	p.Residual = func(r, x []float64) error {
		var domain *transport.DomainError
		root, err := f.projected(c, x)
		if errors.As(err, &domain) {
			for i := range r {
				r[i] = math.NaN()
			}
			return nil
		}
		if err != nil {
			return err
		}
		for i := range r {
			r[i] = root[i*(n+1)+n]
		}
		return nil
	}
	p.Jacobian = func(j, x []float64) error {
		root, err := f.projected(c, x)
		if err != nil {
			return err
		}
		theta := c.theta(x)
		for i := range n + 1 {
			row := root[i*(n+1) : i*(n+1)+n]
			c.slopes(row, x, theta)
			for k, v := range row {
				j[k*(n+1)+i] = v
			}
		}
		return nil
	}
	return p
}

// prepare checks the settings and makes the basis of contrast and offset.
func (f *fitter) prepare(d *Data) error {
	names := d.Setup.Names()
	f.names = names
	if f.s.Start == nil {
		f.s.Start = f.defaultStart(d)
	}
	s := f.s
	if len(s.Start) != len(names) || s.Bounds != nil && len(s.Bounds) != len(names) {
		return fmt.Errorf("twotime: there are %d starts and %s for the parameters %s: give one for each", len(s.Start), errtext.Count(len(s.Bounds), "bound"), strings.Join(names, ", "))
	}
	for _, name := range s.Fixed {
		if !slices.Contains(names, name) {
			return fmt.Errorf("twotime: there is no parameter %q to hold fixed: choose from %s", name, strings.Join(names, ", "))
		}
	}
	for k, name := range names {
		if !slices.Contains(s.Fixed, name) {
			f.free = append(f.free, k)
		}
	}
	if err := f.checkFree(d); err != nil {
		return err
	}
	if angles := len(d.Setup.Angles); s.Scaling == Constant && (len(s.Contrast) != angles || len(s.Offset) != angles) {
		return fmt.Errorf("twotime: there are %d contrasts and %s for %s: give one for each", len(s.Contrast), errtext.Count(len(s.Offset), "offset"), errtext.Count(angles, "angle"))
	}
	var err error
	if f.basis, err = s.Scaling.basis(d.Setup.Angles); err != nil {
		return err
	}
	coefficients := len(f.free)
	if len(f.basis) > 0 {
		coefficients += 2 * len(f.basis[0])
	}
	if n := d.Points(); n <= coefficients {
		return fmt.Errorf("twotime: there are only %d entries of c2 for %s: use more frames, or hold parameters fixed", n, errtext.Count(coefficients, "parameter"))
	}
	return nil
}

// checkFree returns what is wrong with the free parameters and their starts.
func (f *fitter) checkFree(d *Data) error {
	for _, k := range f.free {
		name, start := f.names[k], f.s.Start[k]
		switch {
		case name == "f2":
			return errors.New("twotime: f2 is free, but f0 exp(-f1 f2) is a single number, so that any f2 can be made up for by f0: hold f2 fixed, best in the middle of the measurement")
		case strings.HasPrefix(name, "phi0") && oneDirection(d.Setup.Angles):
			return fmt.Errorf("twotime: %s is free, but with one angle only the product of a rate and a cosine is seen: hold it fixed", name)
		case isRate(name) && !(start > 0):
			return fmt.Errorf("twotime: %s starts at %g: want it above 0, or hold it fixed", name, start)
		}
		if f.s.Bounds != nil {
			if b := f.s.Bounds[k]; !(b[0] < b[1]) || !(start >= b[0] && start <= b[1]) {
				return fmt.Errorf("twotime: %s starts at %g with the bounds %g and %g: want it between them", name, start, b[0], b[1])
			}
		}
	}
	if err := d.Setup.Domain(f.s.Start); err != nil {
		return fmt.Errorf("twotime: the start: %w", err)
	}
	return nil
}

// oneDirection reports whether all angles are the same up to half turns.
func oneDirection(angles []float64) bool {
	for _, a := range angles {
		if math.Abs(math.Remainder(a-angles[0], 180)) > 1e-9 {
			return false
		}
	}
	return true
}

// isRate reports whether a parameter is the size of a rate, which is above 0: fits move in its logarithm, because a rate below 0 and an
// offset that makes up for it are as good for exponents near 0, however large.
func isRate(name string) bool {
	return strings.HasPrefix(name, "D0") || name == "gamma_dot_t0" || name == "v0"
}

// projected returns a square root of the products of the derivatives by the motion and of the residuals, with contrast and offset taken
// out: an upper triangle, row-major.
func (f *fitter) projected(c *coordinates, x []float64) ([]float64, error) {
	if err := f.pass(c.theta(x)); err != nil {
		return nil, err
	}
	l, err := f.best()
	if err != nil {
		return nil, err
	}
	if f.s.Scaling == Individual && f.s.Penalties == nil {
		return f.reduced(l), nil
	}
	products := f.joint(l)
	f.penalise(products, f.linear())
	return triangle(products, f.linear())
}

// triangle eliminates the first n columns of a matrix of products and returns the upper triangle whose square the rest is.
func triangle(a *mat.SymDense, n int) ([]float64, error) {
	size := a.SymmetricDim()
	r := make([]float64, size*size)
	for i := range size {
		for j := i; j < size; j++ {
			sum := a.At(i, j)
			for k := range i {
				sum -= r[k*size+i] * r[k*size+j]
			}
			if i == j && i == size-1 {
				r[i*size+i] = math.Sqrt(max(0, sum))
			} else if i == j {
				r[i*size+i] = pivot(sum, a.At(i, i))
			} else if r[i*size+i] > 0 {
				r[i*size+j] = sum / r[i*size+i]
			}
		}
	}
	m := size - n
	out := make([]float64, m*m)
	for i := range m {
		copy(out[i*m:(i+1)*m], r[(n+i)*size+n:])
	}
	return out, nil
}

// pass computes the sums at parameters.
func (f *fitter) pass(theta []float64) error {
	if !f.isAt(theta) {
		f.passes++
	}
	if f.fault != nil {
		return f.fault
	}
	err := f.evaluate(f.ctx, theta, true)
	if ad.IsDeviceFault(err) {
		f.fault = err
	}
	return err
}

// productsAt returns the products of derivatives and residuals at parameters, with the best coefficients of contrast and offset-1.
func (f *fitter) productsAt(theta []float64) (*mat.SymDense, []float64, error) {
	if err := f.pass(theta); err != nil {
		return nil, nil, err
	}
	l, err := f.best()
	if err != nil {
		return nil, nil, err
	}
	products := f.joint(l)
	f.penalise(products, f.linear())
	return products, l, nil
}

// Last steps go in all parameters together, until one is so small a part of its standard deviations, but not more than polish.
const (
	polish = 40
	tiny   = 1e-7
)

// finish takes the last steps and makes the result.
func (f *fitter) finish(found *solution) (*Fit, error) {
	theta, names := slices.Clone(found.theta), f.names
	isBound := slices.ContainsFunc(found.active, func(a int) bool { return a != 0 })
	n, m := f.linear(), len(f.free)
	products, l, err := f.productsAt(theta)
	if err != nil {
		return nil, err
	}
	for step := 0; ; step++ {
		if step == polish || !found.status.Converged() || isBound {
			break
		}
		move, ok := newtonStep(products)
		if !ok {
			break
		}
		gain, variance := 0.0, 1.0 // of the step, and of an entry
		for i, v := range move {
			gain -= v * products.At(i, n+m)
		}
		if f.data.Sigma == nil {
			variance = products.At(n+m, n+m) / float64(f.total())
		}
		if step > 0 && gain < tiny*tiny*variance {
			break
		}
		next := slices.Clone(theta)
		for i, k := range f.free {
			next[k] += move[n+i]
		}
		if slices.ContainsFunc(f.free, func(k int) bool { return isRate(names[k]) && !(next[k] > 0) }) || f.data.Setup.Domain(next) != nil {
			break
		}
		there, scales, err := f.productsAt(next)
		if f.fault != nil {
			return nil, f.fault
		}
		if err != nil || !(there.At(n+m, n+m) <= products.At(n+m, n+m)*(1+1e-9)) {
			break
		}
		theta, products, l = next, there, scales
	}
	size := n + m
	out := &Fit{Points: f.data.Points(), Passes: f.passes, Status: found.status, SSQ: products.At(size, size) - f.penalty(theta), Theta: theta}
	out.Outside = f.data.Setup.Domain(out.Theta)
	half := n / 2
	for i := range half {
		out.Names = append(out.Names, fmt.Sprintf("contrast_c%d", i))
	}
	for i := range half {
		out.Names = append(out.Names, fmt.Sprintf("offset_c%d", i))
	}
	for _, k := range f.free {
		out.Names = append(out.Names, names[k])
	}
	for angle := range f.data.C2 {
		c, o := f.scales(angle, l)
		out.Contrast, out.Offset = append(out.Contrast, c), append(out.Offset, o+1)
	}
	for i, v := range l { // offsets are coefficients of offset, not of offset-1
		if i >= half && (f.s.Scaling != Fourier || i == half) {
			v++
		}
		out.X = append(out.X, v)
	}
	for _, k := range f.free {
		out.X = append(out.X, out.Theta[k])
	}
	out.Cov = make([]float64, size*size)
	out.SD = make([]float64, size)
	inverse, ok := inverted(products, size)
	for i := range size {
		for j := range size {
			out.Cov[i*size+j] = math.NaN()
			if ok {
				out.Cov[i*size+j] = inverse.At(i, j)
			}
		}
		out.SD[i] = math.Sqrt(out.Cov[i*size+i])
	}
	out.Directions = directions(products, out.Names)
	for _, d := range out.Directions {
		if d.IsFlat() {
			out.Warnings = append(out.Warnings, fmt.Sprintf("the data hardly determine the combination %s: hold one of its parameters fixed, or sample with a prior", d))
		}
	}
	for i, k := range f.free {
		if a := found.active[i]; a != 0 {
			out.Held = append(out.Held, names[k])
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s is at its bound of %g", names[k], f.s.Bounds[k][(a+1)/2]))
		}
	}
	return out, nil
}
