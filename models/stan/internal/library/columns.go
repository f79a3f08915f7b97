// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// byColumns says whether the elementwise combination of a and b is a short vector in lanes to be computed by columns.
func byColumns(a, b value.Value, shape []int) bool {
	if lanesOf(a, b) == 0 || len(shape) != 1 || shape[0] < 2 || shape[0] > value.MostColumns || a.Known() && b.Known() {
		return false
	}
	return hasColumns(a) && hasColumns(b)
}

// hasColumns says that the columns of v need not be picked from rows.
func hasColumns(v value.Value) bool {
	return v.ByColumns() || len(v.Shape) == 0 || v.Lanes == 0 || v.Known()
}

// combinedColumns applies an operation to columns.
func combinedColumns(a, b value.Value, t typing.Type, k int, graph func(x, y *ad.Node) *ad.Node) (value.Value, error) {
	x, y := a.Columns(k), b.Columns(k)
	for j := range x {
		x[j] = graph(x[j], y[j])
	}
	out := value.FromColumns(t, lanesOf(a, b), x)
	return out, x[0].Err()
}

// mappedColumns applies a function to each column.
func mappedColumns(v value.Value, t typing.Type, graph func(x *ad.Node) *ad.Node) (value.Value, error) {
	x := v.Columns(v.Shape[0])
	for j := range x {
		x[j] = graph(x[j])
	}
	return value.FromColumns(t, v.Lanes, x), x[0].Err()
}

// foldedColumns combines the columns of a vector.
func foldedColumns(v value.Value, t typing.Type, graph func(x, y *ad.Node) *ad.Node) (value.Value, error) {
	x := v.Columns(v.Shape[0])
	z := x[0]
	for _, y := range x[1:] {
		z = graph(z, y)
	}
	return value.Value{Type: t, Lanes: v.Lanes, N: z}, z.Err()
}

// logSumExpColumns is the logarithm of the sum of exponentials of columns: that of ad.LogSumExp.
func logSumExpColumns(cols []*ad.Node) *ad.Node {
	if len(cols) == 2 {
		return ad.LogAddExp(cols[0], cols[1])
	}
	m := cols[0]
	for _, x := range cols[1:] {
		m = ad.Maximum(m, x)
	}
	m = ad.StopGradient(m)
	still := ad.Equal(ad.Abs(m), ad.Scalar(inf))
	terms := make([]*ad.Node, len(cols))
	for j, x := range cols {
		terms[j] = ad.Exp(ad.Where(still, ad.Scalar(0), ad.Sub(x, m)))
	}
	return ad.Add(ad.Log(ad.AddN(terms...)), m)
}
