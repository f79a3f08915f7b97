// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// Dist is a distribution of scalars, vectors or matrices, applied to every value in an
// array. The last Event axes form one value, and the axes before them are batch axes,
// which broadcast against those of the parameters.
//
// To define a distribution in your own package, set the fields, including those of the functions ending in Of that
// you know, and give it a name with Register. Callers use the methods, which check the support and broadcast.
type Dist struct {
	Name    string
	Params  []*ad.Node
	Support Support // interval in which the elements of a value lie
	// Discrete marks distributions of integers, for which LogProb is the logarithm of a
	// probability.
	Discrete bool
	// Event is the number of trailing axes that form one value: 0 for a scalar, 1 for a
	// vector, 2 for a matrix.
	Event int

	// ParamEvent is the number of trailing axes of each parameter that belong to one
	// value; nil if every parameter is a scalar.
	ParamEvent []int
	// LogProbOf returns the log density at each value of x, which lie inside the support: for a scalar distribution the
	// shape of x, broadcast with the parameters, and otherwise that shape without the last Event axes. It may lack axes of
	// what it does not depend on, but must not be summed over the array: another shape, such as that of a sum, is an error. It is the
	// only function that every distribution needs. Gradient: must exist with respect to x, unless Discrete is set, and every parameter.
	LogProbOf func(x *ad.Node) *ad.Node
	// InsideOf returns 1 where a value is possible and 0 elsewhere, with the shape of the
	// batch axes, for distributions of vectors or matrices. It needs a Center. Nil means that all values are possible.
	InsideOf func(x *ad.Node) *ad.Node
	// Center is a possible value, which LogProb puts in the place of impossible ones so that the
	// gradient stays finite.
	Center *ad.Node
	// everywhere means that the density formula holds for any number, not only in
	// Support.
	everywhere bool
	// BoundsOf returns the ends of the support if they are neither constants nor
	// parameters.
	BoundsOf func(p []float64) (lo, hi float64)
	// marks returns the limits at which a censored distribution records values beyond
	// them.
	marks func(p []float64) (lo, hi float64)
	// rangesOf returns the ranges of the parameters of a distribution that is made of others.
	rangesOf func() ranges
	// endsOf returns the log density at closed ends of the support where LogProbOf has no value; nil if it has.
	endsOf func(x *ad.Node) []endpoint
	// check finds errors that the distribution's Family does not cover.
	check func() error
	// TransformOf returns the Transform; it is nil if that of Support applies.
	TransformOf func() Transform
	// remake makes the same distribution with other parameters, for distributions not in
	// All.
	remake func(params []*ad.Node) Dist
	// between returns log P(lower < X <= upper) if it can be computed more accurately
	// than from LogCDF.
	between func(lower, upper *ad.Node) *ad.Node
	// LogCDFOf and LogCCDFOf are nil if the distribution has no such graph. x must be inside
	// the support, and an integer for a discrete distribution. Truncate and Censored need both, and so do bounds on a
	// parameter with this distribution as its prior.
	LogCDFOf, LogCCDFOf func(x *ad.Node) *ad.Node
	// fill, if set, replaces Fill.
	fill func(src Source, dst []float64, shape []int, p [][]float64) error
	// RandOf draws a number from a scalar distribution. Its p holds one value of each parameter,
	// concatenated in row-major order, as that of the functions below does. The number must lie in Support. Without RandOf, or
	// DrawOf for vectors and matrices, CanDraw is false: fits work, but nothing can be simulated from the distribution, so prior and posterior
	// predictive draws are errors, files of results have no group posterior_predictive for it, and checks of the model that
	// compare with draws are left out and say so. The same checks are left out if draws are Outside the support.
	RandOf func(src Source, p []float64) float64
	// randBetween draws a number between lo and hi; it is nil if there is no special
	// method.
	randBetween func(src Source, lo, hi float64, p []float64) float64
	// DrawOf draws one value of a distribution of vectors or matrices and writes its elements into dst in row-major order.
	// Nil has the consequences that a nil RandOf has for numbers.
	DrawOf func(src Source, dst, p []float64) error
	// CDFOf returns the probability of a value of at most x, from 0 to 1; it is nil if there is no formula. With it, checks of the model score observations and
	// parameters exactly, and without it by ranks among draws of RandOf.
	CDFOf func(x float64, p []float64) float64
	// QuantileOf returns the value below which the probability is u; it is nil if there is no
	// formula.
	QuantileOf func(u float64, p []float64) float64
	// MeanOf returns the mean of a scalar distribution; it is nil if there is no formula.
	MeanOf func(p []float64) float64
	// VarianceOf returns the variance of a scalar distribution; it is nil if there is no formula.
	VarianceOf func(p []float64) float64
}

// Source is a stream of random numbers. tensor.Stream implements it.
type Source interface {
	Float64() float64 // uniform number in [0, 1)
	Normal() float64  // standard normal number
}

// LogProb returns the log density at each value of x. Its shape is the broadcast of the
// batch axes of x and the parameters. Outside the support it is -Inf with a gradient of
// 0. Gradient: with respect to x and every parameter.
func (d Dist) LogProb(x *ad.Node) *ad.Node { return d.inRange(x, Dist.logProb) }

// logProb is LogProb for parameters that are in their ranges. Distributions that are made of others call it, since they
// check the parameters of all.
func (d Dist) logProb(x *ad.Node) *ad.Node {
	if d.everywhere || d.LogProbOf == nil || d.Event > 0 && d.InsideOf == nil {
		return d.logProbInside(x)
	}
	if err := d.misfit(x); err != nil {
		return failed(x, err)
	}
	if d.Event == 0 && d.InsideOf == nil {
		return d.batched(x, d.Support.guard(x, d.closed))
	}
	in := d.InsideOf(x)
	switch {
	case in == nil || d.Center == nil:
		return failed(x, fmt.Errorf("dist: InsideOf of %s returned %v and its Center is %v: want a node for each", d.Name, in, d.Center))
	case in.Err() != nil:
		return in
	}
	each := in
	if d.Event > 0 {
		each = ad.Reshape(in, append(in.Shape().Clone(), ones(d.Event)...)...)
	}
	safe := ad.Where(each, x, d.Center)
	return d.batched(x, ad.Where(in, d.density(safe), ad.Scalar(math.Inf(-1))))
}

// LogProbInside is LogProb for an x known to lie in the support, such as a constrained
// parameter. It skips the check of the support.
func (d Dist) LogProbInside(x *ad.Node) *ad.Node {
	if s := d.Support; s.Lower != nil && !s.Lower.IsConst() || s.Upper != nil && !s.Upper.IsConst() {
		return d.inRange(x, func(e Dist, x *ad.Node) *ad.Node {
			if len(e.limits()) > 0 { // the support of other parameters need not contain x
				return e.logProb(x)
			}
			return e.logProbInside(x)
		})
	}
	return d.inRange(x, Dist.logProbInside)
}

// logProbClosed is logProbInside for an x that may lie on an end of the support.
func (d Dist) logProbClosed(x *ad.Node) *ad.Node {
	if d.endsOf == nil || d.LogProbOf == nil || d.misfit(x) != nil {
		return d.logProbInside(x)
	}
	return d.batched(x, d.closed(x))
}

func (d Dist) logProbInside(x *ad.Node) *ad.Node {
	if d.LogProbOf == nil {
		return failed(x, d.Err())
	}
	if err := d.misfit(x); err != nil {
		return failed(x, err)
	}
	return d.batched(x, d.density(x))
}

// LogCDF returns the logarithm of the probability of values up to x, accurate in both
// tails: -Inf below the support and 0 above it, and -Inf with a gradient of 0 where a parameter is out of its range. If
// the distribution has none, the Node carries an error. Gradient: with respect to x and every parameter; 0 for the x of a
// discrete distribution.
func (d Dist) LogCDF(x *ad.Node) *ad.Node { return d.inRange(x, Dist.logCDF) }

func (d Dist) logCDF(x *ad.Node) *ad.Node { return d.tail("LogCDF", x, d.LogCDFOf, math.Inf(-1), 0) }

// LogCCDF returns the logarithm of the probability of values above x; otherwise it is
// like LogCDF.
func (d Dist) LogCCDF(x *ad.Node) *ad.Node { return d.inRange(x, Dist.logCCDF) }

func (d Dist) logCCDF(x *ad.Node) *ad.Node { return d.tail("LogCCDF", x, d.LogCCDFOf, 0, math.Inf(-1)) }

func (d Dist) tail(what string, x *ad.Node, f func(*ad.Node) *ad.Node, below, above float64) *ad.Node {
	if f == nil {
		return failed(x, fmt.Errorf("dist: %s has no %s: use CDF for single numbers, or a distribution that has it", d.Name, what))
	}
	s := d.Support
	if s.Whole {
		x = ad.Floor(x)
	}
	low, high := s.below(x, d.Discrete), s.above(x)
	safe := ad.Where(high, s.middle(), ad.Where(low, s.middle(), x))
	return d.batched(x, ad.Where(high, ad.Scalar(above), ad.Where(low, ad.Scalar(below), f(safe))))
}

// Transform returns the map from unconstrained numbers to the support. For a discrete
// distribution, the map returns an error.
func (d Dist) Transform() Transform {
	switch {
	case d.TransformOf != nil:
		return d.TransformOf().whole(d.Name)
	case d.Discrete:
		return noTransform(d.Name)
	}
	return d.Support.Transform()
}

// Rand draws one number. p holds one value of each parameter in the order of Params, with
// arrays in row-major order. The result is NaN if p has the wrong length or if the
// distribution is not scalar; see Fill for vectors and matrices.
func (d Dist) Rand(src Source, p []float64) float64 {
	if d.RandOf == nil || len(p) != d.sizeOfParams() {
		return math.NaN()
	}
	return d.RandOf(src, p)
}

// CDF returns the distribution function at x, with p as in Rand. It is NaN if the
// distribution has none.
func (d Dist) CDF(x float64, p []float64) float64 {
	if d.CDFOf == nil || math.IsNaN(x) || len(p) != d.sizeOfParams() {
		return math.NaN()
	}
	lo, hi := d.ends(p)
	switch {
	case x < lo:
		return 0
	case x >= hi:
		return 1
	case d.Support.Whole:
		x = math.Floor(x)
	}
	return d.CDFOf(x, p)
}

// Mean returns the mean, with p as in Rand. It is NaN if the distribution has none.
func (d Dist) Mean(p []float64) float64 { return d.number(d.MeanOf, p) }

// Var returns the variance, with p as in Rand. It is infinite if it diverges, and NaN if
// the distribution has none.
func (d Dist) Var(p []float64) float64 { return d.number(d.VarianceOf, p) }

func (d Dist) number(f func(p []float64) float64, p []float64) float64 {
	if f == nil || len(p) != d.sizeOfParams() {
		return math.NaN()
	}
	return f(p)
}

// String returns the distribution with its parameters, numbers to four digits, in the form that
// Parse reads.
func (d Dist) String() string {
	params := make([]string, len(d.Params))
	for i, p := range d.Params {
		params[i] = p.String()
		if v, ok := constant(p); ok && len(v) == 1 {
			params[i] = fmt.Sprintf("%.4g", v[0])
		}
	}
	return fmt.Sprintf("%s(%s)", d.Name, strings.Join(params, ", "))
}

// batch returns the broadcast of the batch axes of x and of the parameters.
func (d Dist) batch(x *ad.Node) (tensor.Shape, bool) {
	k := len(x.Shape()) - d.Event
	shape, ok := d.batchOfParams()
	if k < 0 || !ok {
		return nil, false
	}
	return tensor.Broadcast(shape, x.Shape()[:k])
}

// batchOfParams returns the broadcast of the batch axes of the parameters.
func (d Dist) batchOfParams() (shape tensor.Shape, ok bool) {
	shape = tensor.Shape{}
	for i := range d.Params {
		s := d.paramBatch(i)
		if s == nil {
			return nil, false
		}
		if shape, ok = tensor.Broadcast(shape, s); !ok {
			return nil, false
		}
	}
	return shape, true
}

// paramBatch returns the batch axes of parameter i, or nil if it has too few axes.
func (d Dist) paramBatch(i int) tensor.Shape {
	s := d.Params[i].Shape()
	k := len(s)
	if d.ParamEvent != nil {
		k -= d.ParamEvent[i]
	}
	if k < 0 {
		return nil
	}
	return append(tensor.Shape{}, s[:k]...)
}

// batched broadcasts lp to batch axes that it lacks because it does not depend on x or on
// a parameter.
func (d Dist) batched(x, lp *ad.Node) *ad.Node {
	if lp.Err() != nil {
		return lp
	}
	s, ok := d.batch(x)
	if !ok || lp.Shape().Equal(s) {
		return lp
	}
	return ad.Broadcast(lp, s...)
}

// failed returns a Node that carries the mistake of x, if there is one, and otherwise err.
func failed(x *ad.Node, err error) *ad.Node {
	switch {
	case x != nil && x.Err() != nil:
		return x
	case err == nil:
		err = fmt.Errorf("dist: the distribution cannot be used: see its Err")
	}
	return ad.Fail(err)
}

// Nodes returns parameters as Nodes: Nodes as they are, numbers and arrays as constants.
func Nodes(v ...any) []*ad.Node {
	out := make([]*ad.Node, len(v))
	for i, x := range v {
		out[i] = ad.Of(x)
	}
	return out
}

func ones(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = 1
	}
	return s
}

// standard returns (x - mu) / sigma.
func standard(x, mu, sigma *ad.Node) *ad.Node { return ad.Div(ad.Sub(x, mu), sigma) }

// open returns a number in (0, 1), the middle of one of 2^53 equal intervals.
func open(src Source) float64 { return src.Float64() + 0x1p-54 }
