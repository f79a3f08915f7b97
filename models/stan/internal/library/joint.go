// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/subnormal"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// drops returns the terms of a density that depend on known arguments only.
type drops func(args []value.Value) float64

// joint registers a density of vectors, matrices or regressions. graph returns the log density, which is summed.
func joint(name string, graph func(x []*ad.Node, args []value.Value) (*ad.Node, error), drop drops, signatures ...string) {
	register(name, false, func(c *Call) (value.Value, error) {
		if c.Drop && allKnown(c.Args...) || c.Args[0].Size() == 0 {
			return value.Real(0), nil
		}
		var in []*ad.Node
		for _, a := range c.Args {
			in = append(in, a.Node())
		}
		n, err := graph(in, c.Args)
		if err != nil {
			return value.Value{}, err
		}
		if n.Size() > 1 || len(n.Shape()) > 0 {
			n = ad.Sum(n)
		}
		v, err := result(c, n, 0)
		if err != nil || !c.Drop || drop == nil {
			return v, err
		}
		return combine(v, value.Real(drop(c.Args)), v.Type, func(x, y float64) float64 { return x - y }, ad.Sub)
	}, signatures...)
	functions[name].Graph = true
}

// inLanes gives a density of an outcome and a vector a form for the lanes of a loop; it returns nil where that is not possible.
func inLanes(name string, of func(y, p value.Value) *ad.Node) {
	f := functions[name]
	f.Lanes = true
	one := f.Do
	f.Do = func(c *Call) (value.Value, error) {
		lanes := lanesOf(c.Args...)
		if lanes == 0 {
			return one(c)
		}
		y, p := c.Args[0], c.Args[1]
		if len(y.Shape) > 0 || !y.Known() || p.Known() || len(p.Shape) != 1 || p.Shape[0] > value.MostColumns {
			return value.Value{}, value.ErrUnroll
		}
		y = y.Spread(lanes)
		for _, k := range y.F {
			if k < 1 || int(k) > p.Shape[0] {
				return value.Value{}, value.ErrUnroll // the function itself says so
			}
		}
		n := of(y, p)
		if n == nil {
			return value.Value{}, value.ErrUnroll
		}
		return result(c, n, lanes)
	}
}

// chosenOf takes the column that y names, by lane.
func chosenOf(y value.Value, cols []*ad.Node) *ad.Node {
	out := cols[0]
	for j := 1; j < len(cols); j++ {
		is := make([]float64, y.Lanes)
		for l, k := range y.F {
			is[l] = b2f(int(k) == j+1)
		}
		out = ad.Where(ad.Const(is), cols[j], out)
	}
	return out
}

// number evaluates a graph of known numbers.
func number(n *ad.Node) float64 {
	d, err := ad.Numbers(n)
	if err != nil {
		return math.NaN()
	}
	return d[0][0]
}

// outcomes is how many vectors a value holds.
func outcomes(vs ...value.Value) float64 {
	n := 1
	for _, v := range vs {
		if v.Type.Dims > 0 {
			n = max(n, v.Shape[0])
		}
	}
	return float64(n)
}

func vectorSizes(args []value.Value, k int) error {
	for _, a := range args {
		if got := a.Shape[len(a.Shape)-1]; got != k {
			return fmt.Errorf("sizes do not match: vectors of %d and %d elements: give them the same size", k, got)
		}
	}
	return nil
}

// minusOne turns the numbers of categories, which count from 1, into indices.
func minusOne(x *ad.Node) *ad.Node { return ad.Shift(x, -1) }

// jointDensities registers them.
func jointDensities() {
	normals()
	simplices()
	matrices()
	regressions()
	covariances()
}

func normals() {
	vectors := "vector|row_vector|vector[]|row_vector[]"
	lastOf := func(a value.Value) int { return a.Shape[len(a.Shape)-1] }
	normal := func(of func(mu, m any) dist.Dist) func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		return func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
			return of(x[1], x[2]).LogProb(x[0]), vectorSizes(a[:2], a[2].Shape[0])
		}
	}
	thin := func(logDet func(m *ad.Node) *ad.Node) drops {
		return func(a []value.Value) float64 {
			n := outcomes(a[0], a[1])
			d := -n * float64(lastOf(a[0])) * halfLog2Pi
			if a[2].Known() {
				d += n * number(logDet(a[2].Node()))
			}
			return d
		}
	}
	joint("multi_normal_lpdf", normal(dist.MultivariateNormal), thin(func(m *ad.Node) *ad.Node { return ad.Scale(-0.5, ad.LogDet(m)) }), vectors+" "+vectors+" matrix => real")
	joint("multi_normal_cholesky_lpdf", normal(func(mu, l any) dist.Dist { return dist.MultivariateNormalCholesky(mu, l) }),
		thin(func(m *ad.Node) *ad.Node { return ad.Neg(ad.Sum(ad.Log(ad.Diag(m)))) }), vectors+" "+vectors+" matrix => real")
	joint("multi_normal_prec_lpdf", func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		d := ad.Sub(x[0], x[1])
		p := symmetric(x[2])
		rows := ad.Reshape(d, d.Size()/a[2].Shape[0], a[2].Shape[0])
		n := float64(rows.Shape()[0])
		return ad.AddN(ad.Scale(-0.5, ad.Sum(ad.Mul(rows, ad.MatMul(rows, p)))), ad.Scale(n/2, ad.LogDet(p)), ad.Scalar(-n*float64(a[2].Shape[0])*halfLog2Pi)), vectorSizes(a[:2], a[2].Shape[0])
	}, thin(func(m *ad.Node) *ad.Node { return ad.Scale(0.5, ad.LogDet(m)) }), vectors+" "+vectors+" matrix => real")
	student := func(chol func(m *ad.Node) *ad.Node) func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		return func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
			return dist.MultivariateStudentTCholesky(x[1], x[2], chol(x[3])).LogProb(x[0]), vectorSizes([]value.Value{a[0], a[2]}, a[3].Shape[0])
		}
	}
	// Stan drops the power of pi only
	thinT := func(a []value.Value) float64 {
		return -outcomes(a[0], a[2]) * float64(lastOf(a[0])) / 2 * math.Log(math.Pi)
	}
	joint("multi_student_t_lpdf", student(func(m *ad.Node) *ad.Node { return ad.CholeskyOrNaN(m) }), thinT, vectors+" real "+vectors+" matrix => real")
	joint("multi_student_t_cholesky_lpdf", student(func(m *ad.Node) *ad.Node { return m }), thinT, vectors+" real "+vectors+" matrix => real")
	// multi_gp: the rows of y have covariance Sigma/w
	gp := func(quad func(y, s *ad.Node) *ad.Node, logDet func(s *ad.Node) *ad.Node) func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		return func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
			rows, n := float64(a[0].Shape[0]), float64(a[0].Shape[1])
			if a[1].Shape[0] != a[0].Shape[1] || a[2].Size() != a[0].Shape[0] {
				return nil, fmt.Errorf("sizes do not match: %s, %s and %s: check the dimensions of the three", sizes(a[0].Shape), sizes(a[1].Shape), sizes(a[2].Shape))
			}
			return ad.AddN(ad.Scale(-0.5, ad.Sum(ad.Mul(x[2], quad(x[0], x[1])))), ad.Scale(-rows/2, logDet(x[1])), ad.Scale(n/2, ad.Sum(ad.Log(x[2]))), ad.Scalar(-rows*n*halfLog2Pi)), nil
		}
	}
	thinGP := func(a []value.Value) float64 { return -float64(a[0].Size()) * halfLog2Pi }
	cholDet := func(l *ad.Node) *ad.Node { return ad.Scale(2, ad.Sum(ad.Log(ad.Diag(l)))) }
	joint("multi_gp_lpdf", gp(func(y, s *ad.Node) *ad.Node { return ad.SumAxes(ad.Mul(ad.T(y), ad.Solve(s, ad.T(y))), 0) }, ad.LogDet), thinGP, "matrix matrix vector => real")
	joint("multi_gp_cholesky_lpdf", gp(func(y, l *ad.Node) *ad.Node {
		return ad.SumAxes(ad.Square(ad.SolveTriangular(l, ad.T(y), true, false)), 0)
	}, cholDet), thinGP, "matrix matrix vector => real")
}

func simplices() {
	vec := "vector|row_vector|vector[]|row_vector[]"
	joint("dirichlet_lpdf", func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		return dist.Dirichlet(x[1]).LogProb(x[0]), vectorSizes(a, a[0].Shape[len(a[0].Shape)-1])
	}, func(a []value.Value) float64 {
		if !a[1].Known() || a[1].Type.Dims > 0 {
			return 0
		}
		sum, d := 0.0, 0.0
		for _, x := range a[1].F {
			sum, d = sum+x, d-lg(x)
		}
		return outcomes(a...) * (d + lg(sum))
	}, vec+" "+vec+" => real")
	categories := func(of func(p any) dist.Dist) func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		return func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
			k := a[1].Shape[len(a[1].Shape)-1]
			if a[0].Known() {
				for i, y := range a[0].F {
					if y < 1 || y > float64(k) {
						return nil, fmt.Errorf("number of categories is %d, and element %d is %g: want one from 1 to %d", k, i+1, y, k)
					}
				}
			}
			return of(x[1]).LogProb(minusOne(x[0])), nil
		}
	}
	joint("categorical_lpmf", categories(func(p any) dist.Dist { return dist.Categorical(p) }), nil, "ints vector => real", "int[] vector[] => real")
	inLanes("categorical_lpmf", func(y, p value.Value) *ad.Node {
		cols := p.Columns(p.Shape[0])
		for j, x := range cols {
			s := source(x)
			if s.Op() == nil || s.Op().Name != "exp" || s.In()[0].Op() == nil || s.In()[0].Op().Name != "sub" {
				return nil // not made by softmax, so that it may be no simplex
			}
			cols[j] = ad.Log(x)
		}
		return chosenOf(y, cols)
	})
	joint("categorical_logit_lpmf", categories(func(p any) dist.Dist { return dist.CategoricalLogits(p) }), nil, "ints vector => real", "int[] vector[] => real")
	inLanes("categorical_logit_lpmf", func(y, p value.Value) *ad.Node {
		cols := p.Columns(p.Shape[0])
		return ad.Sub(chosenOf(y, cols), logSumExpColumns(cols))
	})
	trials := func(y value.Value) float64 {
		s := 0.0
		for _, x := range y.F {
			s += x
		}
		return s
	}
	coefficient := func(a []value.Value) float64 {
		d := lg(trials(a[0]) + 1)
		for _, x := range a[0].F {
			d -= lg(x + 1)
		}
		return d
	}
	joint("multinomial_lpmf", func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		return dist.Multinomial(trials(a[0]), x[1]).LogProb(x[0]), vectorSizes(a, a[0].Size())
	}, coefficient, "int[] vector => real")
	joint("multinomial_logit_lpmf", func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		return dist.MultinomialLogits(trials(a[0]), x[1]).LogProb(x[0]), vectorSizes(a, a[0].Size())
	}, coefficient, "int[] vector => real")
	joint("dirichlet_multinomial_lpmf", func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		return dist.DirichletMultinomial(trials(a[0]), x[1]).LogProb(x[0]), vectorSizes(a, a[0].Size())
	}, func(a []value.Value) float64 { // log n minus the logarithms of the counts above 0
		d := math.Log(trials(a[0]))
		for _, x := range a[0].F {
			if x > 0 {
				d -= subnormal.Log(x)
			}
		}
		return d
	}, "int[] vector => real")
	ordered := func(shift int, of func(eta, cut any) dist.Dist) func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		return func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
			k := a[2].Shape[len(a[2].Shape)-1] + 1
			for i, y := range a[0].F {
				if y < 1 || y > float64(k) {
					return nil, fmt.Errorf("random variable element %d is %g: want one from 1 to %d", i+1, y, k)
				}
			}
			return of(x[1], x[2]).LogProb(minusOne(x[0])), nil
		}
	}
	joint("ordered_logistic_lpmf", ordered(1, dist.OrderedLogistic), nil, "int real vector => real", "int[] reals vector|vector[] => real", "int[] real vector => real")
	joint("ordered_probit_lpmf", ordered(1, orderedProbit), nil, "int real vector => real", "int[] reals vector|vector[] => real")
	register("poisson_binomial_lpmf", false, poissonBinomial, "int|int[] vector => real")
}

// orderedProbit is the index of the interval between cutpoints of a normal number.
func orderedProbit(eta, cut any) dist.Dist {
	e, c := ad.Of(eta), ad.Of(cut)
	return dist.Dist{Name: "ordered probit", Params: []*ad.Node{e, c}, ParamEvent: []int{0, 1}, Discrete: true, Support: dist.Interval(0.0, inf), LogProbOf: func(x *ad.Node) *ad.Node {
		k := c.Shape()[len(c.Shape())-1]
		far := ad.Scalar(40)
		take := func(shift int) *ad.Node { // 0 where there is none
			at := ad.Reshape(ad.Shift(x, float64(shift)), append(x.Shape().Clone(), 1)...)
			numbers := make([]float64, k)
			for i := range numbers {
				numbers[i] = float64(i)
			}
			return ad.SumAxes(ad.Where(ad.Equal(ad.Const(numbers), at), c, ad.Scalar(0)), -1)
		}
		upper := ad.Where(ad.Equal(x, ad.Scalar(float64(k))), far, ad.Sub(take(0), e))
		lower := ad.Where(ad.Equal(x, ad.Scalar(0)), ad.Neg(far), ad.Sub(take(-1), e))
		return ad.LogPhiDiff(lower, upper)
	}, CDFOf: func(x float64, p []float64) float64 {
		if x >= float64(len(p)-1) {
			return 1
		}
		return 0.5 * math.Erfc((p[0]-p[1+int(x)])/math.Sqrt2)
	}, RandOf: func(src dist.Source, p []float64) float64 {
		z, n := p[0]+src.Normal(), 0
		for n < len(p)-1 && z > p[1+n] {
			n++
		}
		return float64(n)
	}}
}

// poissonBinomial is the number of successes of trials with probabilities of their own.
func poissonBinomial(c *Call) (value.Value, error) {
	y, p := c.Args[0], c.Args[1].Node()
	n := c.Args[1].Size()
	// coefficients of the product of (1 - p_i + p_i z)
	coef := []*ad.Node{ad.Scalar(1)}
	for i := range n {
		q := ad.Index(p, 0, i)
		next := make([]*ad.Node, len(coef)+1)
		for k := range next {
			var terms []*ad.Node
			if k < len(coef) {
				terms = append(terms, ad.Mul(coef[k], ad.Sub(ad.Scalar(1), q)))
			}
			if k > 0 {
				terms = append(terms, ad.Mul(coef[k-1], q))
			}
			next[k] = ad.AddN(terms...)
		}
		coef = next
	}
	var terms []*ad.Node
	for i, k := range y.F {
		if k < 0 || int(k) > n {
			return y, fmt.Errorf("element %d is %g: want one from 0 to %d", i+1, k, n)
		}
		terms = append(terms, ad.Log(coef[int(k)]))
	}
	return result(c, ad.AddN(terms...), 0)
}

func matrices() {
	joint("lkj_corr_cholesky_lpdf", func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		return lkjCholesky(x[0], x[1], a[0].Shape[0]), square(a[0], "lkj_corr_cholesky")
	}, func(a []value.Value) float64 {
		if !a[1].Known() {
			return 0
		}
		return -number(lkjNorm(ad.Scalar(a[1].Number()), a[0].Shape[0]))
	}, "matrix real => real")
	joint("lkj_corr_lpdf", func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		return ad.Sub(ad.Mul(ad.Shift(x[1], -1), ad.LogDet(symmetric(x[0]))), lkjNorm(x[1], a[0].Shape[0])), square(a[0], "lkj_corr")
	}, func(a []value.Value) float64 {
		if !a[1].Known() {
			return 0
		}
		return -number(lkjNorm(ad.Scalar(a[1].Number()), a[0].Shape[0]))
	}, "matrix real => real")
	norm := func(nu *ad.Node, k int) *ad.Node { // of the Wishart distributions, without the scale matrix
		terms := []*ad.Node{ad.Scale(0.5*float64(k)*math.Ln2, nu), ad.Scalar(float64(k*(k-1)) / 4 * math.Log(math.Pi))}
		for j := range k {
			terms = append(terms, ad.Lgamma(ad.Scale(0.5, ad.Shift(nu, -float64(j)))))
		}
		return ad.AddN(terms...)
	}
	wishart := func(inverse bool) func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		return func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
			k := a[0].Shape[0]
			w, nu, s := symmetric(x[0]), x[1], symmetric(x[2])
			trace := ad.Sum(ad.Diag(ad.Solve(s, w)))
			power := ad.Scale(0.5, ad.Shift(nu, -float64(k+1)))
			scale := ad.Scale(-0.5, ad.Mul(nu, ad.LogDet(s)))
			if inverse {
				trace = ad.Sum(ad.Diag(ad.Solve(w, s)))
				power = ad.Scale(-0.5, ad.Shift(nu, float64(k+1)))
				scale = ad.Neg(scale)
			}
			return ad.AddN(ad.Mul(power, ad.LogDet(w)), ad.Scale(-0.5, trace), scale, ad.Neg(norm(nu, k))), square(a[0], "this density")
		}
	}
	joint("wishart_lpdf", wishart(false), nil, "matrix real matrix => real")
	joint("inv_wishart_lpdf", wishart(true), nil, "matrix real matrix => real")
	// of Cholesky factors: L L^T has the distribution, and L the density of that with the Jacobian
	for name, inverse := range map[string]bool{"wishart_cholesky_lpdf": false, "inv_wishart_cholesky_lpdf": true} {
		of := wishart(inverse)
		joint(name, func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
			if err := fits(slices.Equal(a[0].Shape, a[2].Shape), []value.Value{a[0], a[2]}); err != nil {
				return nil, err
			}
			k := a[0].Shape[0]
			l, s := ad.Tril(x[0], 0), ad.Tril(x[2], 0)
			powers := make([]float64, k)
			for i := range powers {
				powers[i] = float64(k - i)
			}
			lp, err := of([]*ad.Node{ad.MatMul(l, ad.T(l)), x[1], ad.MatMul(s, ad.T(s))}, a)
			return ad.AddN(lp, ad.Sum(ad.Mul(ad.Const(powers, k), ad.Log(ad.Diag(l)))), ad.Scalar(float64(k)*math.Ln2)), err
		}, nil, "matrix real matrix => real")
	}
}

// lkjCholesky is the log density of a Cholesky factor of a correlation matrix.
func lkjCholesky(l, eta *ad.Node, k int) *ad.Node {
	d := ad.Log(ad.Diag(l))
	w := make([]float64, k)
	for i := 1; i < k; i++ {
		w[i] = float64(k - i - 3)
	}
	power := ad.Add(ad.Const(w, k), ad.Scale(2, ad.Broadcast(eta, k)))
	mask := make([]float64, k)
	for i := 1; i < k; i++ {
		mask[i] = 1
	}
	return ad.Sub(ad.Sum(ad.Mul(ad.Mul(power, ad.Const(mask, k)), d)), lkjNorm(eta, k))
}

// lkjNorm is the logarithm of the integral of det^(eta - 1) over correlation matrices (Lewandowski, Kurowicka, Joe 2009,
// doi:10.1016/j.jmva.2009.04.008).
func lkjNorm(eta *ad.Node, k int) *ad.Node {
	var terms []*ad.Node
	terms = append(terms, ad.Scalar(0))
	for i := 1; i < k; i++ {
		n := float64(k - i)
		b := ad.Shift(eta, 0.5*(n-1))
		terms = append(terms, ad.Scale(n, lbeta(b, b)), ad.Scale(n*math.Ln2, ad.Shift(ad.Scale(2, eta), n-2)))
	}
	return ad.AddN(terms...)
}

// regressions are densities whose location is alpha + x beta.
func regressions() {
	design := "matrix|row_vector"
	type glm struct {
		name   string
		first  string // the outcome
		before string // arguments before the design
		after  string // arguments after the coefficients
		of     func(eta *ad.Node, before, after []*ad.Node) dist.Dist
		// elementwise is the density of one outcome with a plain formula, if there is one.
		elementwise string
		drop        func(y float64, args []value.Value, i int) float64 // by outcome
	}
	pick := func(v value.Value, i int) float64 {
		if v.Size() == 1 {
			i = 0
		}
		return v.F[i]
	}
	list := []glm{
		{name: "bernoulli_logit_glm_lpmf", elementwise: "bernoulli_logit", first: "ints", of: func(eta *ad.Node, b, p []*ad.Node) dist.Dist { return dist.BernoulliLogit(eta) }},
		{name: "poisson_log_glm_lpmf", elementwise: "poisson_log", first: "ints", of: func(eta *ad.Node, b, p []*ad.Node) dist.Dist { return dist.PoissonLog(eta) },
			drop: func(y float64, a []value.Value, i int) float64 { return -lg(y + 1) }},
		{name: "normal_id_glm_lpdf", elementwise: "normal", first: "reals", after: " real|vector", of: func(eta *ad.Node, b, p []*ad.Node) dist.Dist { return dist.Normal(eta, p[0]) },
			drop: func(y float64, a []value.Value, i int) float64 {
				d := -halfLog2Pi
				if a[4].Known() {
					d -= subnormal.Log(pick(a[4], i))
				}
				return d
			}},
		{name: "neg_binomial_2_log_glm_lpmf", first: "ints", after: " real|vector", of: func(eta *ad.Node, b, p []*ad.Node) dist.Dist { return dist.NegBinomial2Log(eta, p[0]) },
			drop: func(y float64, a []value.Value, i int) float64 {
				d := -lg(y + 1)
				if a[4].Known() {
					phi := pick(a[4], i)
					d += phi*math.Log(phi) - lg(phi) + lg(y+phi)
				}
				if eta, ok := predictor(a[1], a[2], a[3], i); ok {
					d += y * eta
				}
				return d
			}},
		{name: "binomial_logit_glm_lpmf", elementwise: "binomial_logit", first: "ints", before: " ints", of: func(eta *ad.Node, b, p []*ad.Node) dist.Dist { return dist.BinomialLogit(b[0], eta) },
			drop: func(y float64, a []value.Value, i int) float64 {
				n := pick(a[1], i)
				return lg(n+1) - lg(y+1) - lg(n-y+1)
			}},
	}
	for _, g := range list {
		skip := 1 + len(g.before)/5
		joint(g.name, func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
			m, beta := a[skip], a[skip+2]
			if m.Shape[len(m.Shape)-1] != beta.Size() {
				return nil, fmt.Errorf("the design has %d columns, and there are %d coefficients: give each column one", m.Shape[len(m.Shape)-1], beta.Size())
			}
			var eta *ad.Node
			switch {
			case beta.Size() == 0:
				eta = x[skip+1]
			case len(m.Shape) == 1: // one row for all outcomes
				eta = ad.Add(ad.Dot(x[skip], x[skip+2]), x[skip+1])
			default:
				eta = ad.Add(ad.MatMul(x[skip], x[skip+2]), x[skip+1])
			}
			n := max(a[0].Size(), eta.Size())
			own := slices.Concat(x[1:skip], []*ad.Node{eta}, x[skip+3:])
			of := func([]*ad.Node) dist.Dist { return g.of(eta, x[1:skip], x[skip+3:]) }
			return ad.Broadcast(logDensity(g.elementwise, of, x[0], own), n), nil
		}, func(a []value.Value) float64 {
			if g.drop == nil {
				return 0
			}
			d := 0.0
			n := a[0].Size()
			if len(a[skip].Shape) == 2 {
				n = a[skip].Shape[0]
			}
			for i := range n {
				y := 0.0
				if a[0].Known() {
					y = pick(a[0], i)
				}
				d += g.drop(y, a, i)
			}
			return d
		}, g.first+g.before+" "+design+" real|vector vector"+g.after+" => real")
	}
	joint("ordered_logistic_glm_lpmf", func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		return dist.OrderedLogistic(ad.MatMul(asRows(x[1]), x[2]), x[3]).LogProb(minusOne(x[0])), nil
	}, nil, "ints "+design+" vector vector => real")
	joint("categorical_logit_glm_lpmf", func(x []*ad.Node, a []value.Value) (*ad.Node, error) {
		return dist.CategoricalLogits(ad.Add(ad.MatMul(asRows(x[1]), x[3]), x[2])).LogProb(minusOne(x[0])), nil
	}, nil, "ints "+design+" vector matrix => real")
}

// asRows is a matrix, or a row vector as a matrix of one row.
func asRows(x *ad.Node) *ad.Node {
	if len(x.Shape()) == 1 {
		return ad.Reshape(x, 1, x.Size())
	}
	return x
}

// predictor is the linear predictor of an outcome, if it is known.
func predictor(x, alpha, beta value.Value, i int) (eta float64, ok bool) {
	if !allKnown(x, alpha, beta) {
		return 0, false
	}
	eta = alpha.F[min(i, len(alpha.F)-1)]
	n := beta.Size()
	row := x.F
	if len(x.Shape) == 2 {
		row = x.F[i*n : (i+1)*n]
	}
	for k, b := range beta.F {
		eta += row[k] * b
	}
	return eta, true
}

// covariances are those of Gaussian processes.
func covariances() {
	type kernel struct {
		name string
		f    func(d2, rho *ad.Node) *ad.Node // of the squared distance, for amplitude 1
	}
	over := func(d2, rho *ad.Node) *ad.Node { return ad.Div(ad.Sqrt(d2), rho) }
	list := []kernel{
		{"gp_exp_quad_cov", func(d2, rho *ad.Node) *ad.Node { return ad.Exp(ad.Scale(-0.5, ad.Div(d2, ad.Square(rho)))) }},
		{"gp_exponential_cov", func(d2, rho *ad.Node) *ad.Node { return ad.Exp(ad.Neg(over(d2, rho))) }},
		{"gp_matern32_cov", func(d2, rho *ad.Node) *ad.Node {
			z := ad.Scale(math.Sqrt(3), over(d2, rho))
			return ad.Mul(ad.Shift(z, 1), ad.Exp(ad.Neg(z)))
		}},
		{"gp_matern52_cov", func(d2, rho *ad.Node) *ad.Node {
			z := ad.Scale(math.Sqrt(5), over(d2, rho))
			return ad.Mul(ad.AddN(z, ad.Scale(1.0/3, ad.Square(z)), ad.Scalar(1)), ad.Exp(ad.Neg(z)))
		}},
	}
	points := "real[]|vector[]|row_vector[]"
	for _, k := range list {
		do := func(c *Call) (value.Value, error) {
			x, rest := c.Args[0], c.Args[1:]
			y := x
			if len(rest) > 2 {
				y, rest = rest[0], rest[1:]
			} else if len(rest) == 2 && rest[0].Type.Dims > 0 {
				y, rest = rest[0], append([]value.Value{value.Real(1)}, rest[1])
			}
			n, m := x.Shape[0], y.Shape[0]
			if n*m == 0 {
				return value.Known(c.Result, nil, n, m), nil
			}
			alpha, rho := rest[0].Node(), rest[1].Node()
			scale := ad.Scalar(1)
			if len(rest[1].Shape) == 0 {
				scale = rho
			}
			d := func(v value.Value, axis int) *ad.Node { // points along an axis, coordinates last
				dims := value.Size(v.Shape[1:])
				p := v.Node()
				if len(rest[1].Shape) > 0 {
					p = ad.Div(ad.Reshape(p, v.Shape[0], dims), rho)
				}
				if axis == 0 {
					return ad.Reshape(p, v.Shape[0], 1, dims)
				}
				return ad.Reshape(p, 1, v.Shape[0], dims)
			}
			d2 := ad.SumAxes(ad.Square(ad.Sub(d(x, 0), d(y, 1))), 2)
			return result(c, ad.Mul(ad.Square(alpha), k.f(safe(d2, k.name), scale)), 0, n, m)
		}
		register(k.name, false, do, points+" real real => matrix", points+" real real[] => matrix",
			"real[] real[] real real => matrix", "vector[] vector[] real real => matrix", "vector[] vector[] real real[] => matrix", "row_vector[] row_vector[] real real => matrix")
		if k.name == "gp_exp_quad_cov" {
			functions["cov_exp_quad"] = &Function{Name: "cov_exp_quad", Do: do, Overloads: functions[k.name].Overloads}
		}
	}
	register("gp_periodic_cov", false, func(c *Call) (value.Value, error) {
		x := c.Args[0]
		y, rest := x, c.Args[1:]
		if len(rest) == 4 {
			y, rest = rest[0], rest[1:]
		}
		n, m, dims := x.Shape[0], y.Shape[0], value.Size(x.Shape[1:])
		d2 := ad.SumAxes(ad.Square(ad.Sub(ad.Reshape(x.Node(), n, 1, dims), ad.Reshape(y.Node(), 1, m, dims))), 2)
		s := ad.Sin(ad.Scale(math.Pi, ad.Div(ad.Sqrt(safe(d2, "root")), rest[2].Node())))
		return result(c, ad.Mul(ad.Square(rest[0].Node()), ad.Exp(ad.Scale(-2, ad.Div(ad.Square(s), ad.Square(rest[1].Node()))))), 0, n, m)
	}, points+" real real real => matrix", "real[] real[] real real real => matrix", "vector[] vector[] real real real => matrix")
	register("gp_dot_prod_cov", false, func(c *Call) (value.Value, error) {
		x := c.Args[0]
		y, rest := x, c.Args[1:]
		if len(rest) == 2 {
			y, rest = rest[0], rest[1:]
		}
		n, m, dims := x.Shape[0], y.Shape[0], value.Size(x.Shape[1:])
		p := ad.MatMul(ad.Reshape(x.Node(), n, dims), ad.T(ad.Reshape(y.Node(), m, dims)))
		return result(c, ad.Add(p, ad.Square(rest[0].Node())), 0, n, m)
	}, points+" real => matrix", "real[] real[] real => matrix", "vector[] vector[] real => matrix")
}

// safe keeps the derivative of a root finite where a distance is 0.
func safe(d2 *ad.Node, name string) *ad.Node {
	if name == "gp_exp_quad_cov" || d2.IsConst() {
		return d2
	}
	return ad.Maximum(d2, ad.Scalar(1e-300))
}
