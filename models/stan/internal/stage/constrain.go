// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// The transforms of constrained variables are functions, too: NAME_constrain turns unconstrained numbers into the constrained value,
// NAME_jacobian also adds the logarithm of the Jacobian to the target, and NAME_unconstrain is the inverse.

// forms are the transforms of vectors and matrices that are functions.
var forms = []form{
	{name: "ordered", size: func(n int) int { return n }},
	{name: "positive_ordered", size: func(n int) int { return n }},
	{name: "unit_vector", size: func(n int) int { return n }},
	{name: "simplex", size: func(n int) int { return n + 1 }},
	{name: "sum_to_zero", word: "sum_to_zero_vector", size: func(n int) int { return n + 1 }},
	{name: "cholesky_factor_corr", sizes: 1},
	{name: "corr_matrix", sizes: 1},
	{name: "cov_matrix", sizes: 1},
	{name: "cholesky_factor_cov", sizes: 2},
	{name: "stochastic_column", word: "column_stochastic_matrix", grow: [2]int{1, 0}},
	{name: "stochastic_row", word: "row_stochastic_matrix", grow: [2]int{0, 1}},
	{name: "sum_to_zero", word: "sum_to_zero_matrix", grow: [2]int{1, 1}},
}

// form is a transform of a vector to a vector (size), of a vector to a matrix of so many sizes (sizes), or of a matrix to a matrix with more
// rows and columns (grow).
type form struct {
	name, word string
	size       func(n int) int
	sizes      int
	grow       [2]int
}

// free is the kind of the unconstrained numbers, and held that of the constrained value.
func (f form) free() typing.Kind {
	if f.grow != [2]int{} {
		return typing.Matrix
	}
	return typing.Vector
}

func (f form) held() typing.Kind {
	if f.size != nil {
		return typing.Vector
	}
	return typing.Matrix
}

func (f form) key() string {
	if f.word != "" {
		return f.word
	}
	return f.name
}

func init() {
	byName := map[string][]form{}
	for _, f := range forms {
		byName[f.name] = append(byName[f.name], f)
	}
	for name, list := range byName {
		for _, suffix := range []string{"_constrain", "_jacobian", "_unconstrain"} {
			inverse := suffix == "_unconstrain"
			pick := func(t typing.Type) *form {
				for i, f := range list {
					if k := f.free(); inverse && t.Kind == f.held() || !inverse && t.Kind == k {
						return &list[i]
					}
				}
				return nil
			}
			solvers[name+suffix] = solver{func(args []typing.Type) (typing.Type, error) {
				return formTypes(name+suffix, inverse, pick, args)
			}, evaluated(func(m *Machine, args []value.Value) (value.Value, error) {
				f := pick(args[0].Type)
				if inverse {
					return f.unconstrain(args)
				}
				v, j, err := f.constrain(args)
				return m.withJacobian(suffix, v, j, err)
			})}
		}
	}
	for name, n := range map[string]int{"lower_bound": 2, "upper_bound": 2, "lower_upper_bound": 3, "offset_multiplier": 3} {
		for _, suffix := range []string{"_constrain", "_jacobian", "_unconstrain"} {
			solvers[name+suffix] = solver{func(args []typing.Type) (typing.Type, error) {
				return elementTypes(name+suffix, n, args)
			}, evaluated(func(m *Machine, args []value.Value) (value.Value, error) {
				return m.elementForm(name, suffix, args)
			})}
		}
	}
}

// evaluated makes a function of values one of a call.
func evaluated(do func(m *Machine, args []value.Value) (value.Value, error)) func(m *Machine, x *syntax.Call) (value.Value, error) {
	return func(m *Machine, x *syntax.Call) (value.Value, error) {
		var args []value.Value
		for _, a := range x.Args {
			v, err := m.eval(a)
			if err != nil {
				return v, err
			}
			if v.Lanes > 0 {
				return v, value.ErrUnroll
			}
			args = append(args, v)
		}
		v, err := do(m, args)
		if err != nil {
			return v, fmt.Errorf("%s: %w", x.Name, err)
		}
		return m.settled(v, args)
	}
}

// withJacobian adds the logarithm of a Jacobian to the target for functions that are named so.
func (m *Machine) withJacobian(suffix string, v value.Value, j *ad.Node, err error) (value.Value, error) {
	if err != nil || suffix != "_jacobian" || j == nil || m.NoJacobian {
		return v, err
	}
	return v, m.add(value.Of(typing.Of(typing.Real), j))
}

func mistyped(name, format string, args ...any) error {
	return fmt.Errorf("Ill-typed arguments supplied to function %q: "+format, append([]any{name}, args...)...)
}

// formTypes returns the type of a transform of vectors or matrices.
func formTypes(name string, inverse bool, pick func(t typing.Type) *form, args []typing.Type) (typing.Type, error) {
	if len(args) == 0 {
		return typing.Type{}, mistyped(name, "it needs the numbers to transform.")
	}
	f := pick(args[0])
	if f == nil {
		return typing.Type{}, mistyped(name, "the first argument is of type %s: pass a vector, or a matrix for functions of matrices.", args[0])
	}
	want := 1
	if !inverse {
		want += f.sizes
	}
	if len(args) != want {
		return typing.Type{}, mistyped(name, "expected %d arguments but found %d.", want, len(args))
	}
	for i, a := range args[1:] {
		if !a.Is(typing.Int) {
			return typing.Type{}, mistyped(name, "argument %d is a size, and must be int but got %s.", i+2, a)
		}
	}
	out := typing.Type{Kind: f.held(), Dims: args[0].Dims}
	if inverse {
		out.Kind = f.free()
	}
	return out, nil
}

// elementTypes returns the type of a transform of single numbers.
func elementTypes(name string, n int, args []typing.Type) (typing.Type, error) {
	if len(args) != n {
		return typing.Type{}, mistyped(name, "expected %d arguments but found %d.", n, len(args))
	}
	for i, a := range args {
		if a.Kind == typing.Int {
			a.Kind = typing.Real
		}
		if a.Kind.IsComplex() || a.Kind == typing.Tuple || a.Kind == typing.Func || a.Kind == typing.String || a.Kind == typing.Void {
			return a, mistyped(name, "argument %d is of type %s: pass numbers or containers of real numbers.", i+1, a)
		}
		if i > 0 && a.Rank() > 0 && !typing.Equal(a, promote(args[0])) {
			return a, mistyped(name, "argument %d is of type %s: pass a number, or as many as there are elements in the first argument, of type %s.", i+1, a, args[0])
		}
	}
	return promote(args[0]), nil
}

// promote turns integers into real numbers.
func promote(t typing.Type) typing.Type {
	if t.Kind == typing.Int {
		t.Kind = typing.Real
	}
	t.Data = false
	return t
}

// own returns the sizes of one constrained value, and how many there are.
func (f form) own(args []value.Value) (own []int, n int, err error) {
	y := args[0]
	n = value.Size(y.Shape[:y.Type.Dims])
	in := y.Shape[y.Type.Dims:]
	switch {
	case f.size != nil:
		own = []int{f.size(in[0])}
	case f.sizes == 0:
		own = []int{in[0] + f.grow[0], in[1] + f.grow[1]}
	default:
		k := args[1].Integer()
		own = []int{k, k}
		if f.sizes == 2 {
			own[1] = args[2].Integer()
		}
		want := map[string]int{"cholesky_factor_corr": k * (k - 1) / 2, "corr_matrix": k * (k - 1) / 2, "cov_matrix": k * (k + 1) / 2, "cholesky_factor_cov": own[1]*(own[1]+1)/2 + (k-own[1])*own[1]}[f.name]
		if k < 1 || own[1] < 1 || own[1] > k || in[0] != want {
			return own, n, fmt.Errorf("a matrix of %d x %d has %d unconstrained numbers, and the vector has %d elements: give these sizes", own[0], own[1], want, in[0])
		}
	}
	return own, n, nil
}

// constrain returns the constrained value, and the logarithm of the Jacobian; nil if it is 0.
func (f form) constrain(args []value.Value) (v value.Value, j *ad.Node, err error) {
	y := args[0]
	own, n, err := f.own(args)
	if err != nil {
		return v, nil, err
	}
	shape := append(slices.Clone(y.Shape[:y.Type.Dims]), own...)
	t := typing.Type{Kind: f.held(), Dims: y.Type.Dims}
	if y.Size() == 0 {
		one := make([]float64, value.Size(shape))
		if f.name == "simplex" || f.name == "cholesky_factor_corr" || f.name == "corr_matrix" {
			for i := range one {
				one[i] = 1
			}
		}
		return value.Known(t, one, shape...), nil, nil
	}
	u := ad.Reshape(y.Node(), n, y.Size()/n)
	if f.free() == typing.Matrix { // matrices run down their columns
		in := y.Shape[y.Type.Dims:]
		u = ad.Reshape(ad.Permute(ad.Reshape(y.Node(), n, in[0], in[1]), 0, 2, 1), n, in[0]*in[1])
	}
	x, j := vectors[f.key()](u, own)
	return value.Of(t, ad.Reshape(x, shape...), shape...), j, x.Err()
}

// unconstrain is the inverse of constrain. That of values that depend on parameters exists for vectors.
func (f form) unconstrain(args []value.Value) (value.Value, error) {
	v := args[0]
	own := v.Shape[v.Type.Dims:]
	t := typing.Type{Kind: f.free(), Dims: v.Type.Dims}
	n := value.Size(v.Shape[:v.Type.Dims])
	var in []int
	switch {
	case f.size != nil:
		in = []int{own[0] - f.size(0)}
	case f.sizes == 0:
		in = []int{own[0] - f.grow[0], own[1] - f.grow[1]}
	case f.name == "cov_matrix" || f.name == "cholesky_factor_cov":
		in = []int{own[1]*(own[1]+1)/2 + (own[0]-own[1])*own[1]}
	default:
		in = []int{own[0] * (own[0] - 1) / 2}
	}
	shape := append(slices.Clone(v.Shape[:v.Type.Dims]), in...)
	if value.Size(shape) == 0 {
		return value.Known(t, nil, shape...), nil
	}
	if !v.Known() {
		return f.unconstrainNode(v, t, shape, n)
	}
	var all []float64
	size := value.Size(own)
	for e := 0; e < len(v.F); e += size {
		u := inverses[f.key()](v.F[e:e+size], own)
		if f.free() == typing.Matrix {
			u = byRow(u, in[0], in[1])
		}
		all = append(all, u...)
	}
	if slices.ContainsFunc(all, func(u float64) bool { return math.IsNaN(u) || math.IsInf(u, 0) }) {
		return v, fmt.Errorf("the value is no %s inside its bounds: %v", strings.ReplaceAll(f.name, "_", " "), v.F)
	}
	return value.Known(t, all, shape...), nil
}

// byRow lists a matrix by rows that is listed by columns.
func byRow(x []float64, rows, cols int) []float64 {
	out := make([]float64, len(x))
	for i := range rows {
		for j := range cols {
			out[i*cols+j] = x[j*rows+i]
		}
	}
	return out
}

// unconstrainNode is unconstrain of vectors that depend on parameters.
func (f form) unconstrainNode(v value.Value, t typing.Type, shape []int, n int) (value.Value, error) {
	k := v.Size() / n
	x := ad.Reshape(v.Node(), n, k)
	var u *ad.Node
	switch f.key() {
	case "unit_vector":
		u = x
	case "ordered", "positive_ordered":
		u = ad.Slice(x, 1, 0, 1)
		if f.name == "positive_ordered" {
			u = ad.Log(u)
		}
		if k > 1 {
			u = ad.Concat(1, u, ad.Log(ad.Sub(ad.Slice(x, 1, 1, k), ad.Slice(x, 1, 0, k-1))))
		}
	case "simplex":
		u = ad.MatMul(ad.Log(x), fromZeroSumMatrix(k))
	case "sum_to_zero_vector":
		u = ad.MatMul(x, fromZeroSumMatrix(k))
	default:
		return v, fmt.Errorf("the inverse of a matrix that depends on parameters is not supported: declare the unconstrained numbers, and use %s_constrain", f.name)
	}
	return value.Of(t, ad.Reshape(u, shape...), shape...), u.Err()
}

// fromZeroSumMatrix is the matrix of the inverse of zeroSum, which ignores the mean.
func fromZeroSumMatrix(k int) *ad.Node {
	m := make([]float64, k*(k-1))
	for i := range k {
		z := make([]float64, k)
		for j := range z {
			z[j] = -1 / float64(k)
		}
		z[i]++
		copy(m[i*(k-1):], fromZeroSum(z))
	}
	return ad.Const(m, k, k-1)
}

// elementForm is the transform of single numbers by bounds, or by an offset and a multiplier.
func (m *Machine) elementForm(name, suffix string, args []value.Value) (value.Value, error) {
	y := args[0]
	t := promote(y.Type)
	out := func(n *ad.Node) value.Value {
		if len(y.Shape) > 0 {
			n = ad.Broadcast(n, y.Shape...)
		}
		return value.Of(t, n, y.Shape...)
	}
	if y.Size() == 0 {
		y.Type = t
		return y, nil
	}
	if err := bothSizes(args); err != nil {
		return y, err
	}
	a := args[1].Node()
	b := ad.Scalar(math.Inf(1))
	switch name {
	case "upper_bound":
		a, b = ad.Scalar(math.Inf(-1)), a
	case "lower_upper_bound":
		b = args[2].Node()
	case "offset_multiplier":
		return m.affine(suffix, y.Node(), a, args[2].Node(), out)
	}
	low, err := ends(a, math.Inf(-1))
	if err != nil {
		return y, err
	}
	high, err := ends(b, math.Inf(1))
	if err != nil {
		return y, err
	}
	if suffix == "_unconstrain" {
		return out(outward(y.Node(), low, high)), nil
	}
	v, j := inward(y.Node(), low, high, y.Shape)
	return m.withJacobian(suffix, out(v), j, nil)
}

// bothSizes checks that bounds are numbers, or as many as there are elements.
func bothSizes(args []value.Value) error {
	for _, a := range args[1:] {
		if len(a.Shape) > 0 && !slices.Equal(a.Shape, args[0].Shape) {
			return fmt.Errorf("there are %v numbers and %v bounds: pass one bound, or one for each", args[0].Shape, a.Shape)
		}
	}
	return nil
}

// ends returns a bound, nil if it is known to be infinite.
func ends(n *ad.Node, without float64) (*ad.Node, error) {
	known := n.Numbers()
	if known == nil || !slices.Contains(known, without) {
		return n, nil
	}
	if !all(n, without) {
		return nil, fmt.Errorf("some of the bounds are infinite and some are not: transform the numbers with and without a bound apart")
	}
	return nil, nil
}

// outward is the inverse of inward.
func outward(x, low, high *ad.Node) *ad.Node {
	switch {
	case low == nil && high == nil:
		return x
	case high == nil:
		return ad.Log(ad.Sub(x, low))
	case low == nil:
		return ad.Log(ad.Sub(high, x))
	}
	return ad.Sub(ad.Log(ad.Sub(x, low)), ad.Log(ad.Sub(high, x)))
}

// affine is an offset and a multiplier.
func (m *Machine) affine(suffix string, y, offset, by *ad.Node, out func(n *ad.Node) value.Value) (value.Value, error) {
	by = ad.Where(ad.Greater(by, ad.Scalar(0)), by, ad.Scalar(math.NaN()))
	if suffix == "_unconstrain" {
		return out(ad.Div(ad.Sub(y, offset), by)), nil
	}
	v := out(ad.Add(offset, ad.Mul(by, y)))
	return m.withJacobian(suffix, v, ad.Sum(ad.Broadcast(ad.Log(by), v.Shape...)), nil)
}
