// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// lowerLinAlg tells the five products apart by their sign and by the axes.
func lowerLinAlg(l *lowering) *ad.Node {
	a, b := l.x[0], l.x[1]
	ta, tb := l.bool("transA"), l.bool("transB")
	switch sign := l.op.String(); {
	case strings.Contains(sign, "⋅"):
		return ad.MatMul(flat(a), flat(b))
	case strings.Contains(sign, "⊗"):
		return ad.Outer(flat(a), flat(b))
	case !strings.Contains(sign, "×"):
		return failed(fmt.Errorf("there is no rule for the product %q: compute it outside of the imported graph, or make it an operation with NewOp", sign))
	}
	if ta {
		a = ad.T(a)
	}
	if vec := l.kids[1].IsVector(); vec {
		return ad.MatMul(a, flat(b))
	}
	if tb {
		b = ad.T(b)
	}
	return ad.MatMul(a, b)
}

// flat drops the axes of length 1 that Gorgonia's vectors may have.
func flat(x *ad.Node) *ad.Node { return ad.Reshape(x, x.Size()) }

// lowerTensordot sums over aAxes of a and bAxes of b as one matrix product.
func lowerTensordot(l *lowering) *ad.Node {
	a, m := l.contracted(0, "aAxes", false)
	b, n := l.contracted(1, "bAxes", true)
	return ad.Reshape(ad.MatMul(a, b), m*n)
}

// contracted returns argument i as a matrix, the named axes along its columns or
// its rows, and the size of the others.
func (l *lowering) contracted(i int, field string, rows bool) (*ad.Node, int) {
	x, axes := l.x[i], l.ints(field)
	var keep []int
	rest := 1
	for k, d := range x.Shape() {
		if !slices.Contains(axes, k) {
			keep = append(keep, k)
			rest *= d
		}
	}
	if rows {
		return ad.Reshape(ad.Permute(x, slices.Concat(axes, keep)...), x.Size()/rest, rest), rest
	}
	return ad.Reshape(ad.Permute(x, slices.Concat(keep, axes)...), rest, x.Size()/rest), rest
}
