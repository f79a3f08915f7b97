// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"

	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// builders are the functions that make Nodes.
var builders = map[string]any{
	"Abs": ad.Abs, "Abs2": ad.Abs2, "Acos": ad.Acos, "Acosh": ad.Acosh, "Add": ad.Add, "AddN": ad.AddN,
	"Argmax": ad.Argmax, "Argmin": ad.Argmin, "Argsort": ad.Argsort, "Asin": ad.Asin, "Asinh": ad.Asinh,
	"Atan": ad.Atan, "Atan2": ad.Atan2, "Atanh": ad.Atanh, "BernoulliLogLik": ad.BernoulliLogLik,
	"BesselI0e": ad.BesselI0e, "BesselI1e": ad.BesselI1e, "BesselJ0": ad.BesselJ0, "BesselJ1": ad.BesselJ1,
	"BesselLogI0e": ad.BesselLogI0e, "BesselRatio": ad.BesselRatio, "BandedMatVec": ad.BandedMatVec, "Bincount": ad.Bincount, "Broadcast": ad.Broadcast, "CDot": ad.CDot,
	"CExp": ad.CExp, "CMul": ad.CMul, "CScale": ad.CScale, "Call": ad.Call, "Cbrt": ad.Cbrt, "Ceil": ad.Ceil,
	"Cholesky": ad.Cholesky, "CholeskyLogDet": ad.CholeskyLogDet, "CholeskyOrNaN": ad.CholeskyOrNaN,
	"CholeskySolve": ad.CholeskySolve, "Clip": ad.Clip, "Complex": ad.Complex, "Concat": ad.Concat, "Conj": ad.Conj,
	"Convolve": ad.Convolve, "Condense": ad.Condense, "ConvolveSparse": ad.ConvolveSparse, "Correlate": ad.Correlate,
	"Const": ad.Const, "Cos": ad.Cos, "Cosh": ad.Cosh, "Cummax": ad.Cummax, "Cummin": ad.Cummin, "Cumprod": ad.Cumprod,
	"Cumsum": ad.Cumsum, "CumsumWith": ad.CumsumWith, "Delay": ad.Delay, "Det": ad.Det, "Diag": ad.Diag,
	"DiagMatrix": ad.DiagMatrix, "Digamma": ad.Digamma, "Div": ad.Div, "Dot": ad.Dot,
	"EigenSymmetric": ad.EigenSymmetric, "EigenvaluesSymmetric": ad.EigenvaluesSymmetric, "Equal": ad.Equal,
	"Erf": ad.Erf, "Erfc": ad.Erfc, "Erfcx": ad.Erfcx, "Erfinv": ad.Erfinv, "Exp": ad.Exp, "Exp2": ad.Exp2,
	"Expm1": ad.Expm1, "ExpRemainder": ad.ExpRemainder, "Eye": ad.Eye, "FFT": ad.FFT, "FaddeevaIm": ad.FaddeevaIm, "FaddeevaRe": ad.FaddeevaRe, "Fail": ad.Fail, "Flip": ad.Flip, "Float": ad.Float, "Floor": ad.Floor,
	"FloorIndex": ad.FloorIndex,
	"FloorMod":   ad.FloorMod, "Fmax": ad.Fmax, "Fmin": ad.Fmin, "FromDense": ad.FromDense, "Full": ad.Full,
	"Gather": ad.Gather, "Grad": ad.Grad, "GradCheckpoint": ad.GradCheckpoint, "Greater": ad.Greater,
	"GreaterEqual": ad.GreaterEqual, "HVP": ad.HVP, "Hessian": ad.Hessian, "Hoist": ad.Hoist, "Hypot": ad.Hypot,
	"IFFT": ad.IFFT, "IRFFT": ad.IRFFT, "Imag": ad.Imag, "Index": ad.Index, "Input": ad.Input, "IntInput": ad.IntInput,
	"Ints": ad.Ints, "Inverse": ad.Inverse, "JVP": ad.JVP, "Jacobian": ad.Jacobian, "Less": ad.Less,
	"LessEqual": ad.LessEqual, "Lgamma": ad.Lgamma, "LinearScan": ad.LinearScan, "Log": ad.Log, "Log10": ad.Log10,
	"Log1mExp": ad.Log1mExp, "Log1p": ad.Log1p, "Log1pSquare": ad.Log1pSquare, "Log2": ad.Log2,
	"LogAddExp": ad.LogAddExp, "LogBesselIScaled": ad.LogBesselIScaled, "LogBetaDensity": ad.LogBetaDensity, "LogFDensity": ad.LogFDensity, "SquareFall": ad.SquareFall, "LogBetaI": ad.LogBetaI,
	"LogCumsumExp": ad.LogCumsumExp, "LogDet": ad.LogDet, "LogFactorialRest": ad.LogFactorialRest,
	"LogGammaP": ad.LogGammaP, "LogGammaQ": ad.LogGammaQ, "LogMillsDrop": ad.LogMillsDrop, "LogMillsMean": ad.LogMillsMean, "LogMillsPart": ad.LogMillsPart, "LogPartialMoment": ad.LogPartialMoment, "LogPhi": ad.LogPhi, "PartialMomentGain": ad.PartialMomentGain,
	"LogPhiDiff": ad.LogPhiDiff, "LogSigmoid": ad.LogSigmoid, "LogSoftmax": ad.LogSoftmax, "LogSumExp": ad.LogSumExp,
	"MatMul": ad.MatMul, "Max": ad.Max, "MaxAxes": ad.MaxAxes, "Maximum": ad.Maximum, "Mean": ad.Mean,
	"MeanAxes": ad.MeanAxes, "Min": ad.Min, "MinAxes": ad.MinAxes, "Minimum": ad.Minimum, "Mod": ad.Mod, "Mul": ad.Mul,
	"Neg": ad.Neg, "NegBinomialLogProb": ad.NegBinomialLogProb, "Norm": ad.Norm, "NotEqual": ad.NotEqual, "Of": ad.Of,
	"Outer": ad.Outer, "Pad": ad.Pad, "Permute": ad.Permute, "Phi": ad.Phi, "PoissonDeviance": ad.PoissonDeviance,
	"Polygamma": ad.Polygamma, "Pow": ad.Pow, "Prod": ad.Prod, "QR": ad.QR, "RFFT": ad.RFFT, "ReLU": ad.ReLU,
	"Real": ad.Real, "Reciprocal": ad.Reciprocal, "Reshape": ad.Reshape, "Round": ad.Round, "Rsqrt": ad.Rsqrt,
	"SVD": ad.SVD, "Scalar": ad.Scalar, "Scale": ad.Scale, "Scan": ad.Scan, "ScatterAdd": ad.ScatterAdd,
	"ScatterAlong": ad.ScatterAlong, "Shift": ad.Shift, "Sigmoid": ad.Sigmoid, "Sign": ad.Sign,
	"SignLogDet": ad.SignLogDet, "Sin": ad.Sin, "Sinc": ad.Sinc, "SingularValues": ad.SingularValues, "Sinh": ad.Sinh,
	"SkewNormalLogCDF": ad.SkewNormalLogCDF, "Slice": ad.Slice, "SliceStep": ad.SliceStep, "Softmax": ad.Softmax,
	"Softplus": ad.Softplus, "Solve": ad.Solve, "SolveTriangular": ad.SolveTriangular, "Sort": ad.Sort, "Sqrt": ad.Sqrt,
	"Square": ad.Square, "Stack": ad.Stack, "StirlingError": ad.StirlingError, "StopGradient": ad.StopGradient,
	"Sub": ad.Sub, "Substitute": ad.Substitute, "Sum": ad.Sum, "SumAxes": ad.SumAxes, "T": ad.T,
	"TakeAlong": ad.TakeAlong, "Tan": ad.Tan, "Tanh": ad.Tanh, "TopK": ad.TopK, "Tril": ad.Tril, "Triu": ad.Triu,
	"Trunc": ad.Trunc, "VJP": ad.VJP, "Variance": ad.Variance, "Where": ad.Where, "While": ad.While, "Cond": ad.Cond, "CondMade": ad.CondMade, "Conv2D": ad.Conv2D, "ConvTranspose2D": ad.ConvTranspose2D, "MaxPool2D": ad.MaxPool2D, "MaxPool2DIndices": ad.MaxPool2DIndices, "SumPool2D": ad.SumPool2D, "AveragePool2D": ad.AveragePool2D, "AdaptiveAveragePool2D": ad.AdaptiveAveragePool2D,
}

func TestEveryBuilderIsCalled(t *testing.T) {
	files, err := parser.ParseDir(token.NewFileSet(), ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files["autodiff"].Files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil {
				continue
			}
			for _, r := range f.Type.Results.List {
				if strings.Contains(typeText(r.Type), "*Node") && builders[f.Name.Name] == nil {
					t.Errorf("%s is not among the builders of this test", f.Name.Name)
				}
			}
		}
	}
}

func typeText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ArrayType:
		return "[]" + typeText(e.Elt)
	case *ast.StarExpr:
		return "*" + typeText(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// menu lists Nodes to call functions with: of all ranks, of no elements, of
// indices, nil and in error.
func menu() []*ad.Node {
	return []*ad.Node{nil, ad.Neg(nil), ad.Input("s"), ad.Input("one", 1), ad.Input("v", 3), ad.Input("w", 4), ad.Input("a", 2, 3),
		ad.Input("m", 3, 3), ad.Input("none", 0, 3), ad.Input("t", 2, 1, 3), ad.Input("c", 3, 2), ad.Scalar(2), ad.Const([]float64{1, 2, 3}),
		ad.Ints([]int{0, 2, 1}), ad.Ints([]int{1, 0}, 2, 1), ad.IntInput("i", 3), ad.IntInput("k")}
}

// argument draws a value of the type.
func argument(rng *rand.Rand, nodes []*ad.Node, typ reflect.Type) reflect.Value {
	node := func() *ad.Node {
		if rng.IntN(3) > 0 {
			return nodes[2+rng.IntN(len(nodes)-2)]
		}
		return nodes[rng.IntN(len(nodes))]
	}
	switch v := reflect.New(typ).Elem(); v.Interface().(type) {
	case *ad.Node:
		return reflect.ValueOf(node())
	case int:
		return reflect.ValueOf([]int{-4, -2, -1, 0, 0, 1, 1, 2, 3, 7}[rng.IntN(10)])
	case ad.FourierNorm:
		return reflect.ValueOf(ad.FourierNorm(rng.IntN(5) - 1))
	case float64:
		return reflect.ValueOf([]float64{-1, 0, 0.5, 2}[rng.IntN(4)])
	case bool:
		return reflect.ValueOf(rng.IntN(2) == 0)
	case string:
		return reflect.ValueOf("x")
	case *ad.Custom:
		return reflect.ValueOf([]*ad.Custom{nil, {Name: "empty"}, {Name: "cube", Shape: likeFirst, Forward: func(out []float64, in ...[]float64) error { return errors.New("no") }},
			{Name: "negative", Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return tensor.Shape{-1}, nil }, Forward: func(out []float64, in ...[]float64) error { return nil }}}[rng.IntN(4)])
	case *gt.Dense:
		return reflect.ValueOf([]*gt.Dense{nil, gt.New(gt.FromScalar(1.0)), gt.New(gt.WithShape(2), gt.WithBacking([]int{1, 2})), gt.New(gt.WithShape(2), gt.WithBacking([]bool{true, false}))}[rng.IntN(4)])
	case ad.Mark:
		return reflect.ValueOf(ad.Now())
	case ad.ScanSettings:
		return reflect.ValueOf(ad.ScanSettings{Reverse: rng.IntN(2) == 0, Every: rng.IntN(4) - 1})
	case ad.Convolution:
		pair := func(lo, n int) [2]int { return [2]int{lo + rng.IntN(n), lo + rng.IntN(n)} }
		return reflect.ValueOf(ad.Convolution{Stride: pair(-1, 4), Pad: pair(-1, 4), Dilation: pair(-1, 4), Groups: rng.IntN(4) - 1})
	case ad.Pooling:
		pair := func(lo, n int) [2]int { return [2]int{lo + rng.IntN(n), lo + rng.IntN(n)} }
		return reflect.ValueOf(ad.Pooling{Size: pair(-1, 5), Stride: pair(-1, 4), Pad: pair(-1, 4), Dilation: pair(-1, 4), Ceil: rng.IntN(2) == 0})
	case [2]int:
		return reflect.ValueOf([2]int{rng.IntN(5) - 1, rng.IntN(5) - 1})
	case func(carry []*ad.Node) *ad.Node:
		return reflect.ValueOf([]func(carry []*ad.Node) *ad.Node{nil, func(carry []*ad.Node) *ad.Node { return nil },
			func([]*ad.Node) *ad.Node { return node() }}[rng.IntN(3)])
	case func(carry []*ad.Node) []*ad.Node:
		return reflect.ValueOf([]func(carry []*ad.Node) []*ad.Node{nil, func(carry []*ad.Node) []*ad.Node { return carry },
			func([]*ad.Node) []*ad.Node { return []*ad.Node{nil, node()} }}[rng.IntN(3)])
	case func() []*ad.Node:
		return reflect.ValueOf([]func() []*ad.Node{nil, func() []*ad.Node { return nil }, func() []*ad.Node { return []*ad.Node{node()} },
			func() []*ad.Node { return []*ad.Node{nil} }}[rng.IntN(4)])
	case func(carry, x []*ad.Node) (next, y []*ad.Node):
		return reflect.ValueOf([]func(carry, x []*ad.Node) (next, y []*ad.Node){nil,
			func(carry, x []*ad.Node) (next, y []*ad.Node) { return carry, x },
			func(carry, x []*ad.Node) (next, y []*ad.Node) { return []*ad.Node{nil}, []*ad.Node{nil} },
			func(carry, x []*ad.Node) (next, y []*ad.Node) { return nil, []*ad.Node{node()} }}[rng.IntN(4)])
	default:
		switch typ.Kind() {
		case reflect.Slice:
			for range rng.IntN(4) {
				v = reflect.Append(v, argument(rng, nodes, typ.Elem()))
			}
		case reflect.Interface:
			if typ == reflect.TypeFor[error]() {
				if rng.IntN(2) == 0 {
					v.Set(reflect.ValueOf(errors.New("no")))
				}
				return v
			}
			if x := []any{nil, 1, 2.5, "no", []float64{1}, []float64(nil), node()}[rng.IntN(7)]; x != nil {
				v.Set(reflect.ValueOf(x))
			}
		default:
			panic(fmt.Sprintf("no argument of type %v", typ))
		}
		return v
	}
}

// likeFirst is the Shape of an operation on at least one input.
func likeFirst(in ...tensor.Shape) (tensor.Shape, error) {
	if len(in) == 0 {
		return nil, errors.New("want an input")
	}
	return in[0], nil
}

var place = regexp.MustCompile(`^[\w]+\.go:\d+: `)

// Whatever is asked of a function, it makes Nodes that run, or that say what is
// wrong and where it was asked.
func TestNoCallPanics(t *testing.T) {
	nodes := menu()
	for name, f := range builders {
		t.Run(name, func(t *testing.T) {
			call, rng := reflect.ValueOf(f), rand.New(rand.NewPCG(1, 2))
			typ := call.Type()
			for range 60 * (1 + typ.NumIn()) {
				var in []reflect.Value
				for i := range typ.NumIn() {
					in = append(in, argument(rng, nodes, typ.In(i)))
				}
				called(t, name, call, in)
			}
		})
	}
}

func called(t *testing.T, name string, f reflect.Value, in []reflect.Value) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s%v panics: %v", name, in, r)
		}
	}()
	call := f.Call
	if f.Type().IsVariadic() {
		call = f.CallSlice
	}
	for _, out := range call(in) {
		var made []*ad.Node
		switch v := out.Interface().(type) {
		case *ad.Node:
			made = []*ad.Node{v}
		case []*ad.Node:
			made = v
		}
		for _, n := range made {
			switch {
			case n == nil:
				t.Errorf("%s%v returns nil", name, in)
			case n.Err() != nil:
				if !place.MatchString(n.Err().Error()) {
					t.Errorf("%s%v: error %q does not begin with a place", name, in, n.Err())
				}
			default:
				ran(n)
			}
		}
	}
}

// ran compiles and runs n; that may fail, but not panic.
func ran(n *ad.Node) {
	if p, err := ad.Compile([]*ad.Node{n}, ad.Settings{Backend: ad.CPU{Threads: 1}}); err == nil {
		_ = p.NewState().Run()
	}
}

// Derivatives along directions want one of the right shape for each input, and
// reals, and say so at the line of the call.
func TestDirectionsAreChecked(t *testing.T) {
	x, y, one, idx := ad.Input("x", 3), ad.Input("y", 3), ad.Input("one", 1), ad.IntInput("idx", 3)
	z := ad.Sum(ad.Mul(ad.Square(x), y))
	list := func(n ...*ad.Node) []*ad.Node { return n }
	for _, c := range []struct {
		made []*ad.Node
		want string
	}{
		{ad.HVP(z, list(x, y), list(x)), "hvp: there are 2 inputs and 1 directions"},
		{ad.HVP(z, list(x), list(x, y)), "hvp: there are 1 inputs and 2 directions"},
		{ad.HVP(z, list(x), list(one)), "hvp: direction 0 has shape [1]: want the shape of x[3]"},
		{ad.HVP(z, list(x), list(ad.Scalar(1))), "hvp: direction 0 has shape []"},
		{ad.HVP(z, list(x), list(idx)), "hvp: input idx[3] holds indices"},
		{ad.HVP(z, list(x), list(nil)), "an input is nil"},
		{ad.HVP(nil, list(x), list(x)), "an input is nil"},
		{list(ad.JVP(x, list(x, y), list(x))), "jvp: there are 2 inputs and 1 directions"},
		{list(ad.JVP(x, list(x), list(one))), "jvp: direction 0 has shape [1]"},
		{list(ad.JVP(idx, list(x), list(x))), "jvp: input idx[3] holds indices"},
		{ad.VJP(ad.Square(x), one, x), "vjp: direction 0 has shape [1]"},
		{ad.VJP(ad.Square(x), nil, x), "an input is nil"},
		{ad.VJP(ad.Square(x), idx, x), "vjp: input idx[3] holds indices"},
		{ad.Grad(z, x, idx), "grad: input idx[3] holds indices"},
		{ad.Grad(idx, x), "grad: input idx[3] holds indices"},
		{ad.Grad(z, nil), "an input is nil"},
		{ad.GradCheckpoint(z, nil, idx), "grad: input idx[3] holds indices"},
		{list(ad.Jacobian(x, idx)), "jacobian: input idx[3] holds indices"},
		{list(ad.Hessian(z, nil)), "an input is nil"},
		{ad.Substitute(list(z), list(x), list(idx)), "substitute: cannot replace x[3] by idx[3]"},
		{ad.Substitute(list(z), list(x, y), list(x)), "substitute: there are 2 Nodes and 1 replacements"},
	} {
		if len(c.made) == 0 {
			t.Errorf("%s: no Node carries the mistake", c.want)
		}
		for _, n := range c.made {
			if err := n.Err(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "calls_test.go:") {
				t.Errorf("error %v: want %q at this file", err, c.want)
			}
		}
	}
	if d := ad.HVP(z, nil, nil); len(d) != 0 {
		t.Errorf("the Hessian with respect to nothing is %v", d)
	}
}
