// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"
	"reflect"
	"strings"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// lowering is the translation of one Gorgonia node to a Node.
type lowering struct {
	im   *importer
	n    *G.Node
	op   G.Op
	v    reflect.Value // the operation by reflection, for its unexported fields
	kids []*G.Node
	x    []*ad.Node // translations of kids
}

// rule translates a node; a nil result leaves it to an opaque step.
type rule func(l *lowering) *ad.Node

// rules is the table of Gorgonia's operations by the name of their Go type. The
// library has been frozen since 2023; a test builds one of each.
var rules map[string]rule

func init() {
	rules = map[string]rule{
		"constantScalar": lowerConstant, "constantTensor": lowerConstant, "sizeOp": lowerSize,
		"elemUnaryOp": lowerUnary, "elemBinOp": lowerBinary,
		"minBetween":  func(l *lowering) *ad.Node { return ad.Minimum(l.fit(0), l.fit(1)) },
		"maxBetween":  func(l *lowering) *ad.Node { return ad.Maximum(l.fit(0), l.fit(1)) },
		"linAlgBinOp": lowerLinAlg, "tensordotOp": lowerTensordot,
		"sumOp":     func(l *lowering) *ad.Node { return ad.SumAxes(l.x[0], l.along()...) },
		"maxOp":     func(l *lowering) *ad.Node { return ad.MaxAxes(l.x[0], l.along()...) },
		"softmaxOp": lowerSoftmax, "softmaxDiffOp": lowerSoftmaxDiff,
		"reshapeOp":   func(l *lowering) *ad.Node { return l.x[0] },
		"transposeOp": lowerTranspose,
		"repeatOp":    lowerRepeat, "sliceOp": lowerSlice, "sliceIncrOp": lowerSliceIncr,
		"concatOp": func(l *lowering) *ad.Node { return ad.Concat(l.int("axis"), l.x...) },
		"atOp":     lowerAt, "diagFlatOp": lowerDiag, "dtConvOp": lowerConvert,
		"byIndicesOp": lowerByIndices, "byIndicesOpDiffOp": lowerByIndicesDiff,
		"globalAveragePoolOp": func(l *lowering) *ad.Node { return ad.MeanAxes(l.x[0], 2, 3) },
		"upsampleOp":          lowerUpsample, "upsampleDiffOp": lowerUpsampleDiff, "dropoutOp": lowerDropout,
		"maxPoolOp": lowerMaxPool, "maxPoolDiffOp": lowerMaxPoolDiff,
		"avgPoolOp": lowerAveragePool, "avgPoolDiffOp": lowerAveragePoolDiff,
		"im2colOp": lowerIm2Col, "col2imOp": lowerCol2Im,
		"sparsemaxOp": lowerSparsemax, "sparsemaxDiffOp": lowerSparsemaxDiff,
		"GroupNormOp": lowerGroupNorm, "groupNormDiffOp": lowerGroupNormDiff,
		"ctcLossOp": lowerCTC, "ctcLossDiffOp": lowerCTCDiff,
		"Iop": func(l *lowering) *ad.Node { return l.x[0] },
	}
}

// lower makes the Node of n from those of its arguments.
func (im *importer) lower(n *G.Node, kids []*G.Node) (y *ad.Node, err error) {
	op := n.Op()
	if op == nil {
		return im.input(n), nil
	}
	l := &lowering{im: im, n: n, op: op, v: reflect.Indirect(reflect.ValueOf(op)), kids: kids}
	for _, k := range kids {
		l.x = append(l.x, im.of[k])
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("gorgonia: import: %v of shape %v: %T differs from Gorgonia v0.9.18, so use that version: %v", n, n.Shape(), op, r)
		}
	}()
	if y = l.apply(); y.Err() != nil {
		return nil, fmt.Errorf("gorgonia: import: %v of shape %v: %w", n, n.Shape(), y.Err())
	}
	s := n.Shape()
	if y.Size() != s.TotalSize() {
		return nil, fmt.Errorf("gorgonia: import: %v has shape %v, but Gorgonia inferred %v: correct the shapes of its inputs", n, y.Shape(), s)
	}
	return ad.Reshape(y, s...), nil
}

func (l *lowering) apply() *ad.Node {
	switch op := l.op.(type) {
	case *Op:
		return op.inline(l.x)
	case *partial:
		return op.inline(l.x)
	}
	if r := rules[opName(l.op)]; r != nil {
		if y := r(l); y != nil {
			return y
		}
	}
	return l.opaque()
}

// opName returns the name of Gorgonia's type, or "" for the types of others.
func opName(op G.Op) string {
	t := reflect.TypeOf(op)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !strings.HasSuffix(t.PkgPath(), "gorgonia.org/gorgonia") {
		return ""
	}
	return t.Name()
}

func isConstant(n *G.Node) bool {
	if n.Op() == nil {
		return false
	}
	name := opName(n.Op())
	return name == "constantScalar" || name == "constantTensor"
}

func (l *lowering) int(field string) int   { return int(l.v.FieldByName(field).Int()) }
func (l *lowering) bool(field string) bool { return l.v.FieldByName(field).Bool() }

func (l *lowering) ints(field string) []int {
	v := l.v.FieldByName(field)
	out := make([]int, v.Len())
	for i := range out {
		out[i] = int(v.Index(i).Int())
	}
	return out
}

// along returns the axes of a reduction.
func (l *lowering) along() []int {
	axes := l.ints("along")
	if len(axes) == 0 {
		for i := range l.x[0].Shape() {
			axes = append(axes, i)
		}
	}
	return axes
}

// fit returns argument i as an operand of an elementwise operation: Gorgonia
// pairs arrays of one size element by element, whatever their axes.
func (l *lowering) fit(i int) *ad.Node {
	s := l.n.Shape()
	switch x := l.x[i]; x.Size() {
	case s.TotalSize():
		return ad.Reshape(x, s...)
	case 1:
		return ad.Reshape(x)
	default:
		return x
	}
}

func lowerConstant(l *lowering) *ad.Node {
	x, err := constant(l.n.Value())
	if err != nil {
		return failed(err)
	}
	return x
}

// constant makes a leaf of a value, which it shares where it can.
func constant(v G.Value) (*ad.Node, error) {
	switch v := v.(type) {
	case *gt.Dense:
		if v.Dtype() == gt.Bool {
			return ad.Const(floats(v.Bools()), v.Shape()...), nil
		}
		return FromDense(v), nil
	case *G.F64:
		return ad.Scalar(float64(*v)), nil
	case *G.F32:
		return ad.Scalar(float64(*v)), nil
	case *G.I:
		return ad.Reshape(ad.Ints([]int{int(*v)})), nil
	case *G.B:
		return ad.Scalar(floats([]bool{bool(*v)})[0]), nil
	}
	return nil, fmt.Errorf("a constant is a %T: want a float64, float32, int or bool", v)
}

func floats(b []bool) []float64 {
	out := make([]float64, len(b))
	for i, v := range b {
		if v {
			out[i] = 1
		}
	}
	return out
}

func lowerSize(l *lowering) *ad.Node {
	if s := l.x[0].Shape(); len(s) > 0 {
		return ad.Scalar(float64(s[l.int("axis")]))
	}
	return ad.Scalar(1)
}

func lowerConvert(l *lowering) *ad.Node {
	from, to := l.kids[0].Dtype(), l.n.Dtype()
	switch {
	case from == to:
		return l.x[0]
	case from == gt.Int && (to == gt.Float64 || to == gt.Float32):
		return ad.Float(l.x[0])
	}
	if to == gt.Int {
		return failed(fmt.Errorf("cannot convert %v to %v: integers must be inputs or constants", from, to))
	}
	return failed(fmt.Errorf("cannot convert %v to %v: use one precision in a graph", from, to))
}

// failed returns a Node that carries err.
func failed(err error) *ad.Node {
	return ad.Call(&ad.Custom{Name: "gorgonia", Shape: noShape(err)})
}
