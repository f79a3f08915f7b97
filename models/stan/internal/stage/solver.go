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

// solver is a function that calls a function of the program.
type solver struct {
	result func(args []typing.Type) (typing.Type, error)
	do     func(m *Machine, x *syntax.Call) (value.Value, error)
}

var solvers = map[string]solver{}

// Solver returns the type of the result of a function that takes another one.
func Solver(name string) (func(args []typing.Type) (typing.Type, error), bool) {
	s, ok := solvers[name]
	return s.result, ok
}

// Solvers lists the functions that take another one.
func Solvers() (names []string) {
	for n := range solvers {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// gives checks that the first argument is a function that takes the types that the rest of the arguments say, and returns a type.
func gives(name string, result typing.Type, least int, leading func(args []typing.Type) ([]typing.Type, error)) func(args []typing.Type) (typing.Type, error) {
	return func(args []typing.Type) (typing.Type, error) {
		if len(args) < least {
			return result, fmt.Errorf("Ill-typed arguments supplied to function %q: expected at least %d arguments but found %d.", name, least, len(args))
		}
		if args[0].Kind != typing.Func || args[0].Fn == nil {
			return result, fmt.Errorf("Ill-typed arguments supplied to function %q: the first argument must be a function, and is of type %s.", name, args[0])
		}
		want, err := leading(args)
		if err != nil {
			return result, err
		}
		have := args[0].Fn.Args
		if len(have) != len(want) {
			return result, fmt.Errorf("Ill-typed arguments supplied to function %q: the function %s takes %d arguments, and is called with %d: %s. Give it these arguments.", name, args[0].Fn.Name, len(have), len(want), typing.List(want))
		}
		for i := range want {
			if !typing.Fits(have[i], want[i]) || exact(name, i) && have[i].Kind != want[i].Kind {
				return result, fmt.Errorf("Ill-typed arguments supplied to function %q: argument %d of %s is of type %s, and is called with %s.", name, i+1, args[0].Fn.Name, have[i], want[i])
			}
		}
		return result, nil
	}
}

// exact says whether an argument of the function that a solver calls must be of its very type, without promotion: those that the solver
// makes itself, such as the time and the state of a differential equation, and the ends of a slice.
func exact(solver string, i int) bool {
	if strings.HasPrefix(solver, "dae") {
		return i < 3
	}
	if strings.HasPrefix(solver, "reduce_sum") {
		return i == 1 || i == 2
	}
	return i < 2
}

func init() {
	real, vector := typing.Of(typing.Real), typing.Of(typing.Vector)
	for _, base := range []string{"ode_rk45", "ode_ckrk", "ode_adams", "ode_bdf"} {
		for _, tol := range []bool{false, true} {
			name, skip := base, 4
			if tol {
				name, skip = base+"_tol", 7
			}
			stiff := base == "ode_bdf"
			solvers[name] = solver{gives(name, vector.Array(1), skip, func(a []typing.Type) ([]typing.Type, error) {
				return append([]typing.Type{real, vector}, a[skip:]...), nil
			}), func(m *Machine, x *syntax.Call) (value.Value, error) { return m.solveODE(x, skip, stiff, false) }}
		}
	}
	// the tolerances forward are used; those of the adjoint solution and its checkpoints have no counterpart
	const controls = 15
	solvers["ode_adjoint_tol_ctl"] = solver{gives("ode_adjoint_tol_ctl", vector.Array(1), controls, func(a []typing.Type) ([]typing.Type, error) {
		return append([]typing.Type{real, vector}, a[controls:]...), nil
	}), func(m *Machine, x *syntax.Call) (value.Value, error) { return m.solveODE(x, controls, true, false) }}
	for _, name := range []string{"integrate_ode_rk45", "integrate_ode_bdf", "integrate_ode_adams", "integrate_ode"} {
		stiff := name == "integrate_ode_bdf"
		solvers[name] = solver{gives(name, real.Array(2), 7, func(a []typing.Type) ([]typing.Type, error) {
			return []typing.Type{real, real.Array(1), a[4], a[5], a[6]}, nil
		}), func(m *Machine, x *syntax.Call) (value.Value, error) { return m.solveODE(x, 4, stiff, true) }}
	}
	for _, name := range []string{"dae", "dae_tol"} {
		skip := 5
		if name == "dae_tol" {
			skip = 8
		}
		solvers[name] = solver{gives(name, vector.Array(1), skip, func(a []typing.Type) ([]typing.Type, error) {
			return append([]typing.Type{real, vector, vector}, a[skip:]...), nil
		}), func(m *Machine, x *syntax.Call) (value.Value, error) { return m.solveDAE(x, skip) }}
	}
	solvers["integrate_1d"] = solver{gives("integrate_1d", real, 6, func(a []typing.Type) ([]typing.Type, error) {
		return []typing.Type{real, real, a[3], a[4], a[5]}, nil
	}), (*Machine).integrate}
	for _, name := range []string{"solve_newton", "solve_powell", "solve_newton_tol", "solve_powell_tol"} {
		skip := 2
		if strings.HasSuffix(name, "_tol") {
			skip = 5
		}
		solvers[name] = solver{gives(name, vector, skip, func(a []typing.Type) ([]typing.Type, error) {
			return append([]typing.Type{vector}, a[skip:]...), nil
		}), func(m *Machine, x *syntax.Call) (value.Value, error) { return m.root(x, skip, len(x.Args)) }}
	}
	for _, name := range []string{"algebra_solver", "algebra_solver_newton"} {
		solvers[name] = solver{gives(name, vector, 5, func(a []typing.Type) ([]typing.Type, error) {
			return []typing.Type{vector, a[2], a[3], a[4]}, nil
		}), func(m *Machine, x *syntax.Call) (value.Value, error) { return m.root(x, 2, 5) }}
	}
	for _, name := range []string{"reduce_sum", "reduce_sum_static"} {
		solvers[name] = solver{gives(name, real, 3, func(a []typing.Type) ([]typing.Type, error) {
			if a[1].Dims == 0 {
				return nil, fmt.Errorf("Ill-typed arguments supplied to function %q: the second argument must be an array, and is of type %s.", name, a[1])
			}
			integer := typing.Of(typing.Int)
			return append([]typing.Type{a[1], integer, integer}, a[3:]...), nil
		}), (*Machine).reduceSum}
	}
	solvers["map_rect"] = solver{gives("map_rect", vector, 5, func(a []typing.Type) ([]typing.Type, error) {
		return []typing.Type{vector, vector, real.Array(1), typing.Of(typing.Int, 1)}, nil
	}), (*Machine).mapRect}
}

// arguments evaluates all arguments of a solver but the function.
func (m *Machine) arguments(x *syntax.Call) (name string, args []value.Value, err error) {
	n, ok := x.Args[0].(*syntax.Name)
	if !ok {
		return "", nil, errors.New("the first argument is the name of a function")
	}
	args = append(args, value.Value{})
	for _, a := range x.Args[1:] {
		v, err := m.eval(a)
		if err != nil {
			return "", nil, err
		}
		if v.Lanes > 0 {
			return "", nil, value.ErrUnroll
		}
		args = append(args, v)
	}
	return n.Name, args, nil
}

// free splits values into those that are known and the elements of the rest, in order.
func free(args []value.Value) (p []*ad.Node) {
	for _, a := range args {
		if a.Elems != nil {
			p = append(p, free(a.Elems)...)
			continue
		}
		if !a.Known() && a.Size() > 0 {
			p = append(p, ad.Reshape(a.Node(), a.Size()))
		}
	}
	return p
}

// refill puts scalars in the places of the values that free took.
func refill(args []value.Value, p []*ad.Node) ([]value.Value, []*ad.Node) {
	out := slices.Clone(args)
	for i, a := range out {
		switch {
		case a.Elems != nil:
			out[i].Elems, p = refill(a.Elems, p)
		case !a.Known() && a.Size() > 0:
			n := a.Size()
			if len(a.Shape) == 0 {
				out[i] = value.Of(a.Type, p[0])
			} else {
				out[i] = value.FromScalars(a.Type, p[:n], a.Shape...)
			}
			p = p[n:]
		}
	}
	return out, p
}

// settled evaluates a result whose arguments are all known.
func (m *Machine) settled(v value.Value, args []value.Value) (value.Value, error) {
	for _, a := range args {
		if !a.Known() {
			return v, nil
		}
	}
	if v.N == nil {
		return v, nil
	}
	d, err := ad.Numbers(v.N)
	if err != nil {
		return v, err
	}
	v.N, v.F = nil, slices.Clone(d[0])
	return v, nil
}

// detached calls a function of the program apart from the statements that run: it may not add to the target.
func (m *Machine) detached(name string, args []value.Value) (value.Value, error) {
	was, terms, lanes := m.graph, m.terms, m.lanes
	m.graph, m.lanes = true, nil
	m.unrolled++ // single numbers stay such
	m.apart++
	defer func() { m.graph, m.terms, m.lanes = was, terms, lanes; m.unrolled--; m.apart-- }()
	return m.invoke(name, args, typing.Type{}, false)
}

// integrate is the integral of f(x, distance to the nearer end, ...) by double exponential quadrature (Takahasi and Mori 1974,
// doi:10.2977/prims/1195192451).
func (m *Machine) integrate(x *syntax.Call) (value.Value, error) {
	name, args, err := m.arguments(x)
	if err != nil {
		return value.Value{}, err
	}
	a, b, rest := args[1], args[2], args[3:6]
	infinite := func(v value.Value) bool { return v.Known() && math.IsInf(v.Number(), 0) }
	const step, half = 1.0 / 32, 128
	var at, from, weight []float64 // of [-1, 1], the half line or the line
	for i := -half; i <= half; i++ {
		t := step * float64(i)
		s := math.Pi / 2 * math.Sinh(t)
		c := math.Pi / 2 * math.Cosh(t) * step
		switch {
		case infinite(a) && infinite(b):
			at, weight, from = append(at, math.Sinh(s)), append(weight, c*math.Cosh(s)), append(from, math.NaN())
		case infinite(a) || infinite(b):
			at, weight, from = append(at, math.Exp(s)), append(weight, c*math.Exp(s)), append(from, math.NaN())
		default: // distance from the nearer end, as a share of the length
			d := 1 / (math.Exp(2*math.Abs(s)) + 1)
			w := c / (2 * math.Cosh(s) * math.Cosh(s))
			if d == 0 || w == 0 {
				continue
			}
			at, weight, from = append(at, math.Copysign(d, t)), append(weight, w), append(from, d)
		}
		if k := len(at) - 1; math.IsInf(at[k], 0) || math.IsInf(weight[k], 0) || weight[k] == 0 || at[k] == 0 && infinite(b) != infinite(a) {
			at, weight, from = at[:k], weight[:k], from[:k]
		}
	}
	points, distance, scale := ad.Const(at, len(at)), ad.Const(from, len(at)), ad.Scalar(1)
	lo, hi := a.Node(), b.Node()
	switch {
	case infinite(a) && infinite(b):
	case infinite(b):
		points = ad.Add(lo, points)
	case infinite(a):
		points = ad.Sub(hi, points)
	default:
		length := ad.Sub(hi, lo)
		left := make([]float64, len(at))
		for i, u := range at {
			if u < 0 {
				left[i] = 1
			}
		}
		share := ad.Mul(distance, length)
		points = ad.Where(ad.Const(left, len(at)), ad.Add(lo, share), ad.Sub(hi, share))
		distance, scale = ad.Where(ad.Const(left, len(at)), ad.Neg(share), share), length
	}
	was := m.lanes
	f := func(p, d value.Value) (value.Value, error) {
		return m.invoke(name, append([]value.Value{p, d}, rest...), typing.Of(typing.Real), false)
	}
	r := typing.Of(typing.Real)
	m.lanes = &lanes{n: len(at)}
	graph := m.graph
	m.graph = true
	v, err := f(value.Value{Type: r, N: points, Lanes: len(at)}, value.Value{Type: r, N: distance, Lanes: len(at)})
	m.lanes = was
	if err == nil {
		v = v.Spread(len(at))
	} else { // one point after another
		var all []*ad.Node
		for i := range at {
			one, err := f(value.Of(r, ad.Index(points, 0, i)), value.Of(r, ad.Index(distance, 0, i)))
			if err != nil {
				m.graph = graph
				return one, err
			}
			all = append(all, one.Node())
		}
		v = value.Value{Type: r, N: ad.Stack(0, all...), Lanes: len(at)}
	}
	m.graph = graph
	y := v.Node()
	term := ad.Mul(y, ad.Const(weight, len(weight)))
	sum := ad.Mul(scale, ad.Sum(term))
	return m.settled(value.Of(r, sum), args[1:6])
}

// root solves f(y, args) = 0 by Newton's method with halved steps. The last step carries the derivative.
func (m *Machine) root(x *syntax.Call, skip, to int) (value.Value, error) {
	name, args, err := m.arguments(x)
	if err != nil {
		return value.Value{}, err
	}
	guess, rest := args[1], args[skip:min(to, len(args))]
	n := guess.Size()
	vector := typing.Of(typing.Vector)
	var failed error
	call := func(y *ad.Node) *ad.Node {
		v, err := m.detached(name, append([]value.Value{value.Of(vector, y, n)}, rest...))
		if err == nil && v.Size() != n {
			err = fmt.Errorf("%s returns %d numbers for %d unknowns: return one for each", name, v.Size(), n)
		}
		if err != nil {
			failed = err
			return ad.Fail(err)
		}
		return v.Node()
	}
	norm := func(f *ad.Node) *ad.Node { return ad.Max(ad.Abs(f)) }
	const tiny = 1e-13
	newton := func(carry []*ad.Node) []*ad.Node {
		y := carry[0]
		f := call(y)
		if failed != nil {
			return []*ad.Node{y, norm(y)}
		}
		d := ad.Solve(ad.Jacobian(f, y), f)
		best, least := ad.Sub(y, d), ad.Scalar(math.Inf(1))
		for k := range 6 {
			z := ad.Sub(y, ad.Scale(math.Exp2(-float64(k)), d))
			s := norm(call(z))
			better := ad.Less(s, least)
			best, least = ad.Where(better, z, best), ad.Where(better, s, least)
		}
		return []*ad.Node{best, least}
	}
	y0 := ad.StopGradient(guess.Node())
	first := call(y0)
	if failed != nil {
		return guess, failed
	}
	last, _ := ad.While(func(c []*ad.Node) *ad.Node { return ad.Greater(c[1], ad.Scalar(tiny)) }, newton, []*ad.Node{y0, norm(first)}, 100)
	if failed != nil {
		return guess, failed
	}
	y := ad.StopGradient(last[0])
	f := call(y)
	j := ad.StopGradient(ad.Jacobian(f, y))
	out := ad.Sub(y, ad.Solve(j, f))
	out = ad.Where(ad.Less(ad.StopGradient(norm(f)), ad.Scalar(1e-6)), out, ad.Scalar(math.NaN()))
	return m.settled(value.Of(vector, out, n), append([]value.Value{guess}, rest...))
}

// reduceSum calls the function once for all elements.
func (m *Machine) reduceSum(x *syntax.Call) (value.Value, error) {
	name, args, err := m.arguments(x)
	if err != nil {
		return value.Value{}, err
	}
	n := args[1].Shape[0]
	if n == 0 {
		return value.Real(0), nil
	}
	return m.invoke(name, append([]value.Value{args[1], value.Int(1), value.Int(n)}, args[3:]...), typing.Of(typing.Real), false)
}

// mapRect calls the function for each set of parameters, and puts the results one after another.
func (m *Machine) mapRect(x *syntax.Call) (value.Value, error) {
	name, args, err := m.arguments(x)
	if err != nil {
		return value.Value{}, err
	}
	vector := typing.Of(typing.Vector)
	out := value.Known(vector, nil, 0)
	row := func(v value.Value, i int, t typing.Type) value.Value {
		n := value.Size(v.Shape[1:])
		index := make([]int, n)
		for k := range index {
			index[k] = i*n + k
		}
		return v.Take(index, t, 0, v.Shape[1:]...)
	}
	for i := range args[2].Shape[0] {
		v, err := m.invoke(name, []value.Value{args[1], row(args[2], i, vector), row(args[3], i, typing.Of(typing.Real, 1)), row(args[4], i, typing.Of(typing.Int, 1))}, vector, false)
		if err != nil {
			return out, err
		}
		f := library.Find("append_row")
		if out, err = f.Do(&library.Call{Name: "append_row", Args: []value.Value{out, v}, Result: vector}); err != nil {
			return out, err
		}
	}
	return out, nil
}
