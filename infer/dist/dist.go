package dist

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// Dist is a law of one real variable, applied element by element.
type Dist struct {
	Name    string
	Params  []*ad.Node
	Support Support
	// logProb is the density inside the support.
	logProb func(x *ad.Node) *ad.Node
	// rand draws one number from uniform and normal sources at known parameters.
	rand func(src Source, p []float64) float64
	// cdf and quantile are nil where they have no closed form here.
	cdf      func(x float64, p []float64) float64
	quantile func(u float64, p []float64) float64
}

// Source is a stream of random numbers: tensor.Stream is one.
type Source interface {
	Float64() float64 // in [0, 1)
	Normal() float64  // standard normal
}

// LogProb returns the log density at each element of x; -Inf outside the
// support. Gradient: with respect to x and every parameter.
func (d Dist) LogProb(x *ad.Node) *ad.Node { return d.Support.guard(x, d.logProb) }

// LogProbInside is LogProb where x is known to lie in the support, as a
// constrained parameter does: it spends nothing on the check.
func (d Dist) LogProbInside(x *ad.Node) *ad.Node { return d.logProb(x) }

// Rand draws one number at the parameter values p, in the order of Params.
func (d Dist) Rand(src Source, p []float64) float64 { return d.rand(src, p) }

// CDF returns the distribution function at x for parameter values p; NaN where
// it has no closed form here.
func (d Dist) CDF(x float64, p []float64) float64 {
	if d.cdf == nil {
		return math.NaN()
	}
	return d.cdf(x, p)
}

// Quantile returns the u-quantile for parameter values p; NaN where it has no
// closed form here.
func (d Dist) Quantile(u float64, p []float64) float64 {
	if d.quantile == nil {
		return math.NaN()
	}
	return d.quantile(u, p)
}

// String names the law and its parameters.
func (d Dist) String() string { return fmt.Sprintf("%s%v", d.Name, d.Params) }

// Err returns the first mistake among the parameters: one of the graph, or a
// constant that the law cannot have.
func (d Dist) Err() error {
	for _, p := range d.Params {
		if err := p.Err(); err != nil {
			return fmt.Errorf("dist: %s: %w", d.Name, err)
		}
	}
	if d.logProb == nil {
		return fmt.Errorf("dist: a law without a density: make it with a function of this package")
	}
	return d.impossible()
}

// positive are the names of parameters that every law wants above 0.
var positive = []string{"sigma", "s", "a", "b", "nu"}

// impossible checks the parameters that are constant.
func (d Dist) impossible() error {
	law, ok := named(d.Name)
	if !ok || len(law.Params) != len(d.Params) {
		return nil
	}
	known := map[string]float64{}
	for i, p := range d.Params {
		if !p.IsConst() || p.Size() != 1 {
			continue
		}
		v, err := ad.Eval(ad.Reshape(p, 1))
		if err != nil {
			return fmt.Errorf("dist: %s: %w", d.Name, err)
		}
		name, x := law.Params[i], v[0].Data().([]float64)[0]
		known[name] = x
		if math.IsNaN(x) || math.IsInf(x, 0) || slices.Contains(positive, name) && !(x > 0) {
			return fmt.Errorf("dist: %s has %s = %g: want a finite number%s", d.Name, name, x, map[bool]string{true: " above 0"}[slices.Contains(positive, name)])
		}
	}
	lower, low := known["lower"]
	upper, up := known["upper"]
	if low && up && !(lower < upper) {
		return fmt.Errorf("dist: %s from %g to %g: want lower < upper", d.Name, lower, upper)
	}
	return nil
}

// Law is an entry of All: how to make a law from numbers, for tables and checks.
type Law struct {
	Name   string
	Params []string
	New    func(p ...float64) Dist
	At     [][]float64 // parameter values that the checks use
}

var laws []Law

// All returns every law, by the name of its file.
func All() []Law { return append([]Law(nil), laws...) }

// named returns the law of that name.
func named(name string) (Law, bool) {
	for _, l := range laws {
		if l.Name == name {
			return l, true
		}
	}
	return Law{}, false
}

// ByName makes the law name of numbers; the error lists what there is.
func ByName(name string, p ...float64) (Dist, error) {
	l, ok := named(name)
	if !ok {
		var all []string
		for _, l := range laws {
			all = append(all, l.Name)
		}
		hint := ""
		if m := spelling.Meant(name, all); m != "" {
			hint = " did you mean " + m + "?"
		}
		return Dist{}, fmt.Errorf("dist: no law %q:%s there are %v", name, hint, all)
	}
	if len(p) != len(l.Params) {
		return Dist{}, fmt.Errorf("dist: %s has parameters %v: got %d numbers", name, l.Params, len(p))
	}
	d := l.New(p...)
	return d, d.Err()
}

func nodes(v ...any) []*ad.Node {
	out := make([]*ad.Node, len(v))
	for i, x := range v {
		out[i] = ad.Of(x)
	}
	return out
}

// standard returns (x - mu) / sigma.
func standard(x, mu, sigma *ad.Node) *ad.Node { return ad.Div(ad.Sub(x, mu), sigma) }

var halfLogTwoPi = math.Log(2*math.Pi) / 2

// open draws from (0, 1): the middle of one of 2^53 equal parts.
func open(src Source) float64 { return src.Float64() + 0x1p-54 }
