package dist

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// Dist is a scalar distribution, vectors or matrices, applied to every value of an
// array: the last Event axes are one value, the axes before them are batches,
// which broadcast against those of the parameters.
type Dist struct {
	Name    string
	Params  []*ad.Node
	Support Support // of the numbers of a value
	// Discrete distributions give whole numbers; LogProb is then the logarithm of a probability.
	Discrete bool
	// Event is the number of trailing axes that are one value: 0 for a number,
	// 1 for a vector, 2 for a matrix.
	Event int

	// paramEvent counts the trailing axes of each parameter that belong to one
	// value; nil where every parameter is a number.
	paramEvent []int
	// logProb is the density inside the support, of the batch axes.
	logProb func(x *ad.Node) *ad.Node
	// inside is 1 where a value of a distribution of vectors or matrices is possible and 0
	// elsewhere, of the batch axes; center is a possible value.
	inside func(x *ad.Node) *ad.Node
	center *ad.Node
	// everywhere means that the density holds for any number, not in Support alone.
	everywhere bool
	// bounds returns the ends of the support where they are not constants or
	// parameters.
	bounds func(p []float64) (lo, hi float64)
	// marks returns where a censored distribution records the values beyond.
	marks func(p []float64) (lo, hi float64)
	// check finds mistakes that the entry of the distribution does not know of.
	check func() error
	// transform is nil where Support says it all.
	transform func() Transform
	// remake makes the same distribution of other parameters, where All does not know how.
	remake func(params []*ad.Node) Dist
	// between is log P(lower < X <= upper) where the distribution knows it better than by
	// LogCDF.
	between func(lower, upper *ad.Node) *ad.Node
	// logCDF and logCCDF are nil where the distribution has none as a graph; x is inside
	// the support, and whole for a discrete distribution.
	logCDF, logCCDF func(x *ad.Node) *ad.Node
	// The numbers below take one value of each parameter, one after the other,
	// row-major. rand is of scalar distributions, draw of the others: it fills one value.
	// fill, where it is given, is Fill.
	fill func(src Source, dst []float64, shape []int, p [][]float64) error
	rand func(src Source, p []float64) float64
	// randBetween draws between lo and hi, where the distribution knows how.
	randBetween func(src Source, lo, hi float64, p []float64) float64
	draw        func(src Source, dst, p []float64) error
	cdf         func(x float64, p []float64) float64
	quantile    func(u float64, p []float64) float64
	mean        func(p []float64) float64
	variance    func(p []float64) float64
}

// Source is a stream of random numbers: tensor.Stream is one.
type Source interface {
	Float64() float64 // in [0, 1)
	Normal() float64  // standard normal
}

// LogProb returns the log density at each value of x: its shape is the
// broadcast of the batch axes of x and the parameters. Outside the support it is
// -Inf with a gradient of 0. Gradient: with respect to x and every parameter.
func (d Dist) LogProb(x *ad.Node) *ad.Node {
	if d.everywhere || d.logProb == nil {
		return d.LogProbInside(x)
	}
	if d.Event == 0 && d.inside == nil {
		return d.batched(x, d.Support.guard(x, d.logProb))
	}
	in := d.inside(x)
	if err := in.Err(); err != nil {
		return in
	}
	each := in
	if d.Event > 0 {
		each = ad.Reshape(in, append(in.Shape().Clone(), ones(d.Event)...)...)
	}
	safe := ad.Where(each, x, d.center)
	return d.batched(x, ad.Where(in, d.logProb(safe), ad.Scalar(math.Inf(-1))))
}

// LogProbInside is LogProb where x is known to lie in the support, as a
// constrained parameter does: it spends nothing on the check.
func (d Dist) LogProbInside(x *ad.Node) *ad.Node {
	if d.logProb == nil {
		return failed(x, d.Err())
	}
	return d.batched(x, d.logProb(x))
}

// LogCDF returns the logarithm of the probability of at most x, accurate in both
// tails: -Inf below the support and 0 above it. Distributions without one give a Node with
// an error. Gradient: with respect to x and every parameter; 0 for the x of a
// discrete distribution.
func (d Dist) LogCDF(x *ad.Node) *ad.Node { return d.tail("LogCDF", x, d.logCDF, math.Inf(-1), 0) }

// LogCCDF returns the logarithm of the probability of more than x, as LogCDF does.
func (d Dist) LogCCDF(x *ad.Node) *ad.Node { return d.tail("LogCCDF", x, d.logCCDF, 0, math.Inf(-1)) }

func (d Dist) tail(what string, x *ad.Node, f func(*ad.Node) *ad.Node, below, above float64) *ad.Node {
	if f == nil {
		return failed(x, fmt.Errorf("dist: %s has no %s: use CDF of one number, or a distribution that has it", d.Name, what))
	}
	s := d.Support
	if s.Whole {
		x = ad.Floor(x)
	}
	low, high := s.below(x, d.Discrete), s.above(x)
	if low == nil && high == nil {
		return d.batched(x, f(x))
	}
	safe := x
	if low != nil {
		safe = ad.Where(low, s.middle(), safe)
	}
	if high != nil {
		safe = ad.Where(high, s.middle(), safe)
	}
	out := f(safe)
	if low != nil {
		out = ad.Where(low, ad.Scalar(below), out)
	}
	if high != nil {
		out = ad.Where(high, ad.Scalar(above), out)
	}
	return d.batched(x, out)
}

// Transform returns the map from unconstrained numbers to the support; a discrete
// distribution has one that fails.
func (d Dist) Transform() Transform {
	switch {
	case d.transform != nil:
		return d.transform()
	case d.Discrete:
		return noTransform(d.Name)
	}
	return d.Support.Transform()
}

// Rand draws one number at the parameter values p: one value of each parameter in
// the order of Params, arrays row-major. It is NaN for another number of them, and
// for distributions of vectors: see Fill.
func (d Dist) Rand(src Source, p []float64) float64 {
	if d.rand == nil || len(p) != d.sizeOfParams() {
		return math.NaN()
	}
	return d.rand(src, p)
}

// CDF returns the distribution function at x for parameter values p, as Rand
// takes them; NaN where the distribution has none.
func (d Dist) CDF(x float64, p []float64) float64 {
	if d.cdf == nil || math.IsNaN(x) || len(p) != d.sizeOfParams() {
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
	return d.cdf(x, p)
}

// Mean returns the mean at parameter values p; NaN where the distribution has none.
func (d Dist) Mean(p []float64) float64 { return d.number(d.mean, p) }

// Var returns the variance at parameter values p: infinite where it diverges, NaN
// where the distribution has none.
func (d Dist) Var(p []float64) float64 { return d.number(d.variance, p) }

func (d Dist) number(f func(p []float64) float64, p []float64) float64 {
	if f == nil || len(p) != d.sizeOfParams() {
		return math.NaN()
	}
	return f(p)
}

// String names the distribution and its parameters.
func (d Dist) String() string { return fmt.Sprintf("%s%v", d.Name, d.Params) }

// batch returns the batch axes of a density at x: those of x and of the
// parameters, broadcast.
func (d Dist) batch(x *ad.Node) (tensor.Shape, bool) {
	k := len(x.Shape()) - d.Event
	shape, ok := d.batchOfParams()
	if k < 0 || !ok {
		return nil, false
	}
	return tensor.Broadcast(shape, x.Shape()[:k])
}

// batchOfParams returns the batch axes of the parameters, broadcast.
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

// paramBatch returns the batch axes of parameter i; nil if it has too few axes.
func (d Dist) paramBatch(i int) tensor.Shape {
	s := d.Params[i].Shape()
	k := len(s)
	if d.paramEvent != nil {
		k -= d.paramEvent[i]
	}
	if k < 0 {
		return nil
	}
	return append(tensor.Shape{}, s[:k]...)
}

// batched gives lp the batch axes that it lacks because it does not depend on x
// or on a parameter.
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

// failed is a Node that carries err; x only gives it a place in the graph.
func failed(x *ad.Node, err error) *ad.Node {
	if err == nil {
		err = fmt.Errorf("dist: a distribution that cannot be used: see Err")
	}
	return ad.Call(&ad.Custom{Name: "dist", Shape: func(...tensor.Shape) (tensor.Shape, error) { return nil, err }}, x)
}

func nodes(v ...any) []*ad.Node {
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

// open draws from (0, 1): the middle of one of 2^53 equal parts.
func open(src Source) float64 { return src.Float64() + 0x1p-54 }
