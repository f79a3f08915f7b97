// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/library"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// The functions of the embedded Laplace approximation integrate over hidden normal numbers theta ~ normal(0, K) with a likelihood of the
// observations, whose logarithm is replaced by its expansion to second order at the mode of theta (Rasmussen and Williams 2006, Gaussian
// Processes for Machine Learning, section 3.4; Margossian et al. 2020, arXiv:2004.12550):
//
//	log p(y) = log p(y | theta) - theta' a/2 - log det(I + W K)/2,  theta = K a,  a = grad log p(y | theta),  W = -Hessian

// observed is a likelihood of hidden numbers.
type observed struct {
	name string
	args []typing.Type // before the size of the blocks, without those of a function of the program
	// of returns the logarithm of the likelihood; nil for that of a function of the program.
	of func(args []value.Value) (func(theta *ad.Node) *ad.Node, error)
}

func init() {
	counts, vector := typing.Of(typing.Int, 1), typing.Of(typing.Vector)
	list := []observed{
		{name: "%s"},
		{name: "%s_bernoulli_logit", args: []typing.Type{counts, counts, vector}, of: bernoulliOf},
		{name: "%s_poisson_log", args: []typing.Type{counts, counts, vector}, of: poissonOf},
		{name: "%s_neg_binomial_2_log", args: []typing.Type{counts, counts, vector, vector}, of: negBinomialOf},
	}
	for _, o := range list {
		for _, tol := range []string{"", "_tol"} {
			density, draw := fmt.Sprintf(o.name, "laplace_marginal"+tol), fmt.Sprintf(o.name, "laplace_latent"+tol)+"_rng"
			if o.of != nil {
				density += "_lpmf"
			}
			solvers[density] = solver{o.types(density, typing.Of(typing.Real), tol != ""), func(m *Machine, x *syntax.Call) (value.Value, error) {
				l, err := m.hidden(x, o)
				if err != nil {
					return value.Value{}, err
				}
				v := value.Of(x.Type(), l.marginal)
				return m.settled(v, l.args)
			}}
			solvers[draw] = solver{o.types(draw, vector, tol != ""), func(m *Machine, x *syntax.Call) (value.Value, error) {
				if m.graph {
					return value.Value{}, errLate
				}
				l, err := m.hidden(x, o)
				if err != nil {
					return value.Value{}, err
				}
				return m.drawHidden(l)
			}}
		}
	}
	solvers["laplace_latent_rng_tol"] = solvers["laplace_latent_tol_rng"] // the reference has both names
}

// types checks the arguments: those of the likelihood, the size of its blocks, a function for the covariance with its arguments in a tuple,
// and settings in another tuple.
func (o observed) types(name string, result typing.Type, settings bool) func(a []typing.Type) (typing.Type, error) {
	return func(a []typing.Type) (typing.Type, error) {
		mistaken := func(format string, args ...any) (typing.Type, error) {
			return result, fmt.Errorf("Ill-typed arguments supplied to function %q: "+format, append([]any{name}, args...)...)
		}
		first := len(o.args)
		if o.of == nil {
			first = 2
		}
		most := first + 3
		if settings {
			most++
		}
		if len(a) != most {
			return mistaken("expected %d arguments but found %d.", most, len(a))
		}
		if o.of == nil {
			if a[1].Kind != typing.Tuple || a[1].Dims > 0 {
				return mistaken("forwarded arguments to the likelihood must be a tuple, such as (y, sigma) or (y,), and this is of type %s.", a[1])
			}
			if err := takes(name, "first", a[0], append([]typing.Type{typing.Of(typing.Vector)}, a[1].Elems...), typing.Real); err != nil {
				return result, err
			}
		}
		for i, want := range o.args {
			if !typing.Fits(want, a[i]) {
				return mistaken("argument %d must be %s but got %s.", i+1, want, a[i])
			}
		}
		if a[first].Kind != typing.Int || a[first].Dims > 0 || !a[first].Data {
			return mistaken("the size of the blocks of the Hessian, argument %d, must be a data-only int, and this is of type %s. It stands there since Stan 2.38: write 1 if observations depend on one hidden number each.", first+1, a[first])
		}
		if a[first+2].Kind != typing.Tuple || a[first+2].Dims > 0 {
			return mistaken("forwarded arguments to the covariance must be a tuple, such as (alpha, rho) or (rho,), and this is of type %s.", a[first+2])
		}
		if settings && (a[most-1].Kind != typing.Tuple || len(a[most-1].Elems) != 6) {
			return mistaken("the settings are a tuple of 6: initial values, tolerance, steps, solver, steps of the line search and whether to fall back; this is of type %s.", a[most-1])
		}
		return result, takes(name, "covariance", a[first+1], a[first+2].Elems, typing.Matrix)
	}
}

// takes checks that a function takes arguments and returns a kind.
func takes(name, which string, fn typing.Type, want []typing.Type, result typing.Kind) error {
	if fn.Kind != typing.Func || fn.Fn == nil {
		return fmt.Errorf("Ill-typed arguments supplied to function %q: the %s function must be one of the program, and is of type %s.", name, which, fn)
	}
	if len(fn.Fn.Args) != len(want) || !slices.EqualFunc(fn.Fn.Args, want, typing.Fits) || !fn.Fn.Result.Is(result) {
		return fmt.Errorf("Ill-typed arguments supplied to function %q: %s is %s, and must take %s and return %s.", name, fn.Fn.Name, *fn.Fn, typing.List(want), result)
	}
	return nil
}

// laplace is an approximation at the mode of hidden numbers.
type laplace struct {
	args            []value.Value // of the call, without functions
	n               int
	marginal, theta *ad.Node
	covariance      *ad.Node // of theta given the observations
	start           *ad.Node // where the search for the mode begins; nil for zero
	steps           int      // the most steps of that; 0 for mostSteps
}

// hidden makes the approximation of a call.
func (m *Machine) hidden(x *syntax.Call, o observed) (*laplace, error) {
	first := len(o.args)
	if o.of == nil {
		first = 2
	}
	l := &laplace{}
	of := make([]value.Value, len(x.Args))
	for i, a := range x.Args {
		if i == first+1 || o.of == nil && i == 0 {
			continue
		}
		v, err := m.eval(a)
		if err != nil {
			return nil, err
		}
		if v.Lanes > 0 {
			return nil, value.ErrUnroll
		}
		of[i] = v
		l.args = append(l.args, v)
	}
	block := of[first].Integer()
	var failed error
	call := func(i int, args []value.Value) value.Value {
		n, ok := x.Args[i].(*syntax.Name)
		if !ok {
			failed = errors.New("an argument that has to be the name of a function is none")
			return value.Real(0)
		}
		v, err := m.detached(n.Name, args)
		if err != nil {
			failed = err
			return value.Value{Type: typing.Of(typing.Real), N: ad.Fail(err)}
		}
		return v
	}
	k := call(first+1, of[first+2].Elems)
	if failed != nil {
		return nil, failed
	}
	if len(k.Shape) != 2 || k.Shape[0] != k.Shape[1] || k.Shape[0] == 0 {
		return nil, fmt.Errorf("the covariance has size %v: return a square matrix", k.Shape)
	}
	l.n = k.Shape[0]
	if block < 1 || l.n%block != 0 {
		return nil, fmt.Errorf("the size of the blocks is %d, and there are %d hidden numbers: choose a divisor of their number", block, l.n)
	}
	likelihood := func(theta *ad.Node) *ad.Node {
		v := call(0, append([]value.Value{value.Of(typing.Of(typing.Vector), theta, l.n)}, of[1].Elems...))
		return ad.Reshape(v.Node())
	}
	if o.of != nil {
		own, err := o.of(of)
		if err != nil {
			return nil, err
		}
		mean := of[len(o.args)-1]
		if mean.Size() != l.n {
			return nil, fmt.Errorf("the mean has %d elements, and there are %d hidden numbers: give one for each", mean.Size(), l.n)
		}
		likelihood = func(theta *ad.Node) *ad.Node { return own(ad.Add(theta, mean.Node())) }
	}
	if likelihood(ad.Full(0, l.n)); failed != nil {
		return nil, failed
	}
	if strings.Contains(x.Name, "_tol") {
		if err := l.settings(of[len(of)-1].Elems); err != nil {
			return nil, err
		}
	}
	l.approximate(likelihood, k.Node(), block)
	return l, failed
}

// mostSteps bounds the steps to the mode.
const mostSteps = 500

// settings reads where the search for the mode begins and how many steps it may take. It ends where the numbers do not become larger any more,
// which is closer than any tolerance asks for, and chooses its own decompositions and shorter steps, so that the other settings are checked only.
func (l *laplace) settings(t []value.Value) error {
	for i, v := range t[1:] {
		if !v.Known() {
			return fmt.Errorf("setting %d of the approximation depends on parameters: compute it from data", i+2)
		}
	}
	switch theta, tol, steps, solver, search, fall := t[0], t[1].Number(), t[2].Integer(), t[3].Integer(), t[4].Integer(), t[5].Integer(); {
	case theta.Size() != l.n:
		return fmt.Errorf("the initial values have %d elements, and there are %d hidden numbers: give one for each", theta.Size(), l.n)
	case !(tol > 0) || math.IsInf(tol, 0):
		return fmt.Errorf("the tolerance is %g: want a positive number, such as 1e-8", tol)
	case steps < 1:
		return fmt.Errorf("the number of steps is %d: want at least 1; the default is %d", steps, mostSteps)
	case solver < 1 || solver > 3:
		return fmt.Errorf("the solver is %d: want 1, 2 or 3", solver)
	case search < 0:
		return fmt.Errorf("the steps of the line search are %d: want 0 or more", search)
	case fall != 0 && fall != 1:
		return fmt.Errorf("whether to fall back to another solver is %d: want 0 or 1", fall)
	default:
		l.steps = steps
		if !theta.Known() || slices.ContainsFunc(theta.F, func(x float64) bool { return x != 0 }) {
			l.start = ad.StopGradient(theta.Node())
		}
	}
	return nil
}

// approximate finds the mode by Newton's method with halved steps. The last step carries the derivatives.
func (l *laplace) approximate(likelihood func(theta *ad.Node) *ad.Node, k *ad.Node, block int) {
	n := l.n
	column := func(v *ad.Node) *ad.Node { return ad.Reshape(v, n, 1) }
	product := func(a, v *ad.Node) *ad.Node { return ad.Reshape(ad.MatMul(a, column(v)), n) }
	eye := make([]float64, n*n)
	for i := range n {
		eye[i*n+i] = 1
	}
	// bend returns W, and I + W k
	bend := func(theta, k *ad.Node) (w func(v *ad.Node) *ad.Node, b *ad.Node) {
		f := likelihood(theta)
		if block == 1 {
			d := ad.Neg(ad.HVP(f, []*ad.Node{theta}, []*ad.Node{ad.Full(1, n)})[0])
			return func(v *ad.Node) *ad.Node { return ad.Mul(d, v) }, ad.Add(ad.Const(eye, n, n), ad.Mul(column(d), k))
		}
		h := ad.Neg(ad.Hessian(f, theta))
		return func(v *ad.Node) *ad.Node { return product(h, v) }, ad.Add(ad.Const(eye, n, n), ad.MatMul(h, k))
	}
	step := func(theta, k *ad.Node) (a *ad.Node) {
		w, b := bend(theta, k)
		right := ad.Add(w(theta), ad.Grad(likelihood(theta), theta)[0])
		return ad.Reshape(ad.Solve(b, column(right)), n)
	}
	fixed := ad.StopGradient(k)
	worth := func(a *ad.Node) *ad.Node {
		theta := product(fixed, a)
		return ad.Sub(likelihood(theta), ad.Scale(0.5, ad.Dot(theta, a)))
	}
	// the carry is a, its worth, and how much larger that became
	begin := ad.Full(0, n)
	if l.start != nil {
		begin = ad.StopGradient(step(l.start, fixed))
	}
	if l.steps == 0 {
		l.steps = mostSteps
	}
	last, _ := ad.While(func(c []*ad.Node) *ad.Node { return ad.Greater(c[2], ad.Scalar(1e-14)) }, func(c []*ad.Node) []*ad.Node {
		a := c[0]
		to := step(product(fixed, a), fixed)
		best, most := a, c[1]
		for half := range 8 {
			z := ad.Add(a, ad.Scale(math.Exp2(-float64(half)), ad.Sub(to, a)))
			v := worth(z)
			better := ad.Greater(v, most)
			best, most = ad.Where(better, z, best), ad.Where(better, v, most)
		}
		return []*ad.Node{best, most, ad.Div(ad.Sub(most, c[1]), ad.Shift(ad.Abs(most), 1))}
	}, []*ad.Node{begin, worth(begin), ad.Scalar(1)}, l.steps)
	theta := ad.StopGradient(product(fixed, last[0]))
	theta = ad.StopGradient(product(fixed, step(theta, fixed))) // as near as the numbers allow
	a := step(theta, k)
	theta = product(k, a)
	_, b := bend(theta, k)
	l.theta = theta
	l.marginal = ad.Sub(ad.Sub(likelihood(theta), ad.Scale(0.5, ad.Dot(theta, a))), ad.Scale(0.5, ad.LogDet(b)))
	l.covariance = ad.T(ad.Solve(ad.T(b), ad.T(k)))
}

// drawHidden draws hidden numbers given the observations.
func (m *Machine) drawHidden(l *laplace) (value.Value, error) {
	s := ad.Scale(0.5, ad.Add(l.covariance, ad.T(l.covariance)))
	d, err := ad.Numbers(l.theta, s)
	if err != nil {
		return value.Value{}, err
	}
	mean, factor := slices.Clone(d[0]), make([]float64, l.n*l.n)
	if !cholesky(d[1], factor, l.n) {
		return value.Value{}, errors.New("the covariance of the hidden numbers is not positive definite: add a small number to the diagonal of that before the observations")
	}
	z := make([]float64, l.n)
	for i := range z {
		z[i] = m.Random.Normal()
	}
	for i := range mean {
		for j := range i + 1 {
			mean[i] += factor[i*l.n+j] * z[j]
		}
	}
	return value.Vector(mean), nil
}

// grouped counts observations and sums them by the hidden number that they depend on.
func grouped(args []value.Value) (number, sum []float64, err error) {
	y, group, mean := args[0], args[1], args[len(args)-1]
	if y.Size() != group.Size() {
		return nil, nil, fmt.Errorf("there are %d observations and %d numbers of hidden numbers: give one for each observation", y.Size(), group.Size())
	}
	n := mean.Size()
	number, sum = make([]float64, n), make([]float64, n)
	for i, g := range group.Ints() {
		if g < 1 || g > n {
			return nil, nil, fmt.Errorf("element %d of the numbers of hidden numbers is %d: want one from 1 to %d", i+1, g, n)
		}
		number[g-1]++
		sum[g-1] += y.F[i]
	}
	return number, sum, nil
}

func bernoulliOf(args []value.Value) (func(theta *ad.Node) *ad.Node, error) {
	number, sum, err := grouped(args[:3])
	for i, y := range args[0].F {
		if y != 0 && y != 1 {
			err = fmt.Errorf("observation %d is %g: want 0 or 1", i+1, y)
		}
	}
	return func(theta *ad.Node) *ad.Node {
		return ad.Sub(ad.Dot(theta, ad.Const(sum)), ad.Dot(ad.Const(number), ad.Softplus(theta)))
	}, err
}

// poissonOf has the constants of Stan, which are those of the sums over groups.
func poissonOf(args []value.Value) (func(theta *ad.Node) *ad.Node, error) {
	number, sum, err := grouped(args[:3])
	constant := 0.0
	for _, s := range sum {
		lg, _ := math.Lgamma(s + 1)
		constant -= lg
	}
	return func(theta *ad.Node) *ad.Node {
		return ad.Shift(ad.Sub(ad.Dot(theta, ad.Const(sum)), ad.Dot(ad.Const(number), ad.Exp(theta))), constant)
	}, err
}

func negBinomialOf(args []value.Value) (func(theta *ad.Node) *ad.Node, error) {
	number, sum, err := grouped([]value.Value{args[0], args[1], args[3]})
	if err != nil {
		return nil, err
	}
	n, eta := len(number), args[2].Node()
	if args[2].Size() != 1 && args[2].Size() != n {
		return nil, fmt.Errorf("eta has %d elements: give one, or one for each of the %d hidden numbers", args[2].Size(), n)
	}
	eta = ad.Broadcast(eta, n)
	group := make([]int, 0, len(args[1].F))
	for _, g := range args[1].Ints() {
		group = append(group, g-1)
	}
	own := ad.Gather(eta, ad.Ints(group, len(group)), 0)
	y := ad.Const(args[0].F)
	// the binomial coefficient of y + eta - 1 over y
	ways := ad.Sum(ad.Sub(ad.Sub(ad.Lgamma(ad.Add(y, own)), ad.Lgamma(own)), ad.Lgamma(ad.Shift(y, 1))))
	return func(theta *ad.Node) *ad.Node {
		both := ad.LogAddExp(ad.Log(eta), theta)
		return ad.AddN(ways, ad.Dot(ad.Const(sum), ad.Sub(theta, both)), ad.Dot(ad.Mul(ad.Const(number), eta), ad.Sub(ad.Log(eta), both)))
	}, nil
}

// solved calls a density that takes functions, in a distribution statement.
func (m *Machine) solved(s *syntax.Tilde) (v value.Value, ok bool, err error) {
	f, ok := solvers[s.Name+s.Suffix]
	if !ok || library.Find(s.Name+s.Suffix) != nil || !strings.HasPrefix(s.Name, "laplace_") {
		return v, false, nil
	}
	c := &syntax.Call{Name: s.Name + s.Suffix, Word: s.Word, Args: append([]syntax.Expr{s.X}, s.Args...)}
	syntax.SetType(c, typing.Of(typing.Real), false)
	v, err = f.do(m, c)
	return v, true, err
}
