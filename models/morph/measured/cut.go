// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// A bound within a few standard deviations cuts a posterior. The logarithm of the distance from it stretches what is near the bound and
// crowds what is far: the coordinate has a long tail, which the metric of a normal distribution about the fit does not know. The coordinate x of
// such a parameter has the distance from the bound as its softplus instead, so that it is the parameter itself where the bound is not felt,
//
//	distance = k log(1 + exp(x)),  or W (1 - exp(-k log(1 + exp(x))/W)) where the other bound is W away,
//
// with k half of the standard deviation of what is left. The metric is then the covariance of x where the posterior is a normal distribution that is
// cut: that with the Fisher information about the maximum without the bounds. docs/decisions/0037 has the measurements.

// feltBound is the distance of a bound in standard deviations up to which it is taken as cutting a posterior.
const feltBound = 5

// cut is the coordinate of a parameter near a bound; a scale of 0 stands for the usual one.
type cut struct {
	scale float64 // k
	above bool    // whether the bound is the upper one
}

// transform maps the coordinate to the parameter between its ends.
func (c cut) transform(low, high float64) dist.Transform {
	t := dist.IntervalTransform(low, high) // moves values inside and has the bounds
	switch {
	case math.IsInf(high, 1):
		t = dist.LowerTransform(low)
	case math.IsInf(low, -1):
		t = dist.UpperTransform(high)
	}
	t.Name = "softplus of a distance"
	t.Constrain = func(x *ad.Node) (y, logJ *ad.Node) {
		distance, width := ad.Scale(c.scale, ad.Softplus(x)), high-low
		logJ = ad.Shift(ad.LogSigmoid(x), math.Log(c.scale))
		if !math.IsInf(width, 0) {
			share := ad.Scale(-1/width, distance)
			distance, logJ = ad.Scale(-width, ad.Expm1(share)), ad.Add(logJ, share)
		}
		if c.above {
			return ad.Shift(ad.Neg(distance), high), ad.Sum(logJ)
		}
		return ad.Shift(distance, low), ad.Sum(logJ)
	}
	t.Inverse = func(y []float64, _ ...float64) ([]float64, error) {
		if !(y[0] > low && y[0] < high) {
			return nil, fmt.Errorf("measured: %g is outside the set: want a number strictly between %g and %g", y[0], low, high)
		}
		return []float64{c.coordinate(y[0], low, high)}, nil
	}
	return t
}

// coordinate is the inverse of the transform.
func (c cut) coordinate(y, low, high float64) float64 {
	distance, width := y-low, high-low
	if c.above {
		distance = high - y
	}
	if !math.IsInf(width, 0) {
		distance = -width * math.Log1p(-distance/width)
	}
	s := distance / c.scale
	return s + math.Log(-math.Expm1(-s))
}

// rate is the derivative of the coordinate by the parameter.
func (c cut) rate(y, low, high float64) float64 {
	x, left := c.coordinate(y, low, high), 1.0
	if width := high - low; !math.IsInf(width, 0) {
		left = 1 - map[bool]float64{true: high - y, false: y - low}[c.above]/width
	}
	return (1 + math.Exp(-x)) / (c.scale * left)
}

// coordinate returns the sampler's coordinate of parameter i at a value inside its bounds.
func (t *Task) coordinate(i int, y float64) float64 {
	low, high := t.Params[i].ends()
	switch {
	case t.cuts != nil && t.cuts[i].scale > 0:
		return t.cuts[i].coordinate(y, low, high)
	case math.IsInf(low, -1) && math.IsInf(high, 1):
		return y
	case math.IsInf(high, 1):
		return math.Log(y - low)
	case math.IsInf(low, -1):
		return math.Log(high - y)
	}
	return math.Log(y-low) - math.Log(high-y)
}

// rate is the derivative of the sampler's coordinate by parameter i.
func (t *Task) rate(i int, y float64) float64 {
	low, high := t.Params[i].ends()
	if t.cuts != nil && t.cuts[i].scale > 0 {
		return t.cuts[i].rate(y, low, high)
	}
	return t.Params[i].rate(y)
}

// cutAt finds the parameters whose bounds cut the posterior about a solution, and their coordinates.
func (t *Task) cutAt(s *Solution) error {
	t.cuts = nil
	n, err := t.normalAt(s)
	if err != nil || n == nil || len(n.felt) == 0 {
		return err
	}
	rows := n.draws(t, draws)
	cuts := make([]cut, len(t.Params))
	for _, i := range n.felt {
		low, high := t.Params[i].ends()
		half := stat.StdDev(mat.Col(nil, i, rows), nil) / 2
		if !(half > 0) {
			continue
		}
		// A power of 2 does not depend on rounding errors, so that a run that is resumed has the same.
		cuts[i] = cut{math.Exp2(math.Round(math.Log2(half))), high-n.mean[i] < n.mean[i]-low}
	}
	t.cuts = cuts
	return nil
}

// draws is the number of draws of a cut normal distribution.
const draws = 8000

// cutNormal is the normal distribution that a posterior would be without bounds, as the information at a solution has it.
type cutNormal struct {
	mean []float64
	cov  []float64 // row-major
	felt []int     // parameters with a bound that cuts it
}

// normalAt returns it; nil if not all parameters are determined.
func (t *Task) normalAt(s *Solution) (*cutNormal, error) {
	n := len(s.X)
	for _, sd := range s.SD {
		if !(sd > 0) || math.IsInf(sd, 0) {
			return nil, nil
		}
	}
	if !slices.ContainsFunc(t.Params, func(p Param) bool { low, high := p.ends(); return !math.IsInf(low, 0) || !math.IsInf(high, 0) }) {
		return nil, nil
	}
	at, err := t.sensitivity(s.X, t.scalesOf(s), len(t.Params))
	if err != nil {
		return nil, err
	}
	score := make([]float64, n)
	for a, i := range at.index {
		for k, w := range at.weight {
			score[i] += w * at.j[a*at.m+k] * at.residual[k]
		}
	}
	out := &cutNormal{mean: slices.Clone(s.X), cov: s.Cov}
	for i := range n {
		score[i] += t.Params[i].priorSlope(s.X[i])
	}
	for i := range n {
		for k := range n {
			out.mean[i] += s.Cov[i*n+k] * score[k]
		}
	}
	for i := range n {
		low, high := t.Params[i].ends()
		if !t.isScale(t.Params[i].Name) && min(out.mean[i]-low, high-out.mean[i]) < feltBound*s.SD[i] {
			out.felt = append(out.felt, i)
		}
	}
	return out, nil
}

// priorSlope is the derivative of the log prior.
func (p *Param) priorSlope(x float64) float64 {
	if p.Prior == nil {
		if p.SD > 0 {
			return -(x - p.Mean) / (p.SD * p.SD)
		}
		return 0
	}
	h := 1e-4 * max(math.Abs(x), 1e-3)
	if d := (p.logPrior(x+h) - p.logPrior(x-h)) / (2 * h); !math.IsNaN(d) && !math.IsInf(d, 0) {
		return d
	}
	return 0
}

// draws returns draws of the distribution within the bounds that cut it, by Gibbs sampling of these parameters and exactly of the others given
// them.
func (c *cutNormal) draws(t *Task, count int) *mat.Dense {
	n, b := len(c.mean), len(c.felt)
	order := slices.Clone(c.felt)
	for i := range n {
		if !slices.Contains(c.felt, i) {
			order = append(order, i)
		}
	}
	cov := mat.NewSymDense(n, nil)
	for i, u := range order {
		for k, v := range order[:i+1] {
			cov.SetSym(i, k, c.cov[u*n+v])
		}
	}
	var all, cutting mat.Cholesky
	var low mat.TriDense
	var precision mat.SymDense
	if !all.Factorize(cov) || !cutting.Factorize(cov.SliceSym(0, b)) || cutting.InverseTo(&precision) != nil {
		return mat.NewDense(1, n, slices.Clone(c.mean))
	}
	all.LTo(&low)
	random := rand.New(rand.NewPCG(0x637574, 1))
	out, off, z := mat.NewDense(count, n, nil), make([]float64, b), make([]float64, n)
	for row := range count + 100 {
		for i := range b {
			pull := 0.0
			for k := range b {
				if k != i {
					pull -= precision.At(i, k) * off[k]
				}
			}
			p := precision.At(i, i)
			lo, hi := t.Params[order[i]].ends()
			off[i] = pull/p + quantileBetween((lo-c.mean[order[i]]-pull/p)*math.Sqrt(p), (hi-c.mean[order[i]]-pull/p)*math.Sqrt(p), random.Float64())/math.Sqrt(p)
		}
		if row < 100 {
			continue
		}
		for i := range n {
			sum := 0.0
			for k := range i {
				sum += low.At(i, k) * z[k]
			}
			if i < b {
				z[i] = (off[i] - sum) / low.At(i, i)
			} else {
				z[i] = random.NormFloat64()
			}
			out.Set(row-100, order[i], c.mean[order[i]]+sum+low.At(i, i)*z[i])
		}
	}
	return out
}

// quantileBetween is the quantile u of the standard normal distribution between two ends.
func quantileBetween(lo, hi, u float64) float64 {
	if lo > 0 { // where its distribution function rounds to 1
		return -quantileBetween(-hi, -lo, 1-u)
	}
	a, b := distuv.UnitNormal.CDF(lo), distuv.UnitNormal.CDF(hi)
	if b < 1e-300 { // the tail falls exponentially
		return max(hi-math.Log(u)/hi, lo)
	}
	return min(max(distuv.UnitNormal.Quantile(a+u*(b-a)), lo), hi)
}

// cutCov returns the covariance of the coordinates of a posterior that bounds cut; nil where none does.
func (t *Task) cutCov(s *Solution) ([][]float64, error) {
	if t.cuts == nil {
		return nil, nil
	}
	c, err := t.normalAt(s)
	if err != nil || c == nil {
		return nil, err
	}
	rows := c.draws(t, draws)
	count, n := rows.Dims()
	var kept []float64
	for k := range count {
		row := make([]float64, n)
		inside := true
		for i := range n {
			low, high := t.Params[i].ends()
			y := rows.At(k, i)
			inside = inside && y > low && y < high
			row[i] = t.coordinate(i, y)
		}
		if inside {
			kept = append(kept, row...)
		}
	}
	if len(kept) < draws*n/2 {
		return nil, nil
	}
	var cov mat.SymDense
	stat.CovarianceMatrix(&cov, mat.NewDense(len(kept)/n, n, kept), nil)
	out := make([][]float64, n)
	for i := range out {
		out[i] = mat.Col(nil, i, &cov)
	}
	return out, nil
}
