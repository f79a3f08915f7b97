// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/optim"
)

// Bits are the flags of one row of a batch.
type Bits uint8

// Flags of rows.
const (
	SizeBit Bits = 1 << iota
	PatternBit
	NeighboursBit
	OutliersBit
	SpreadBit
	BoundBit
	UnknownBit
	UnjudgedBit
)

// bitKinds are the kinds of the bits, in their order.
var bitKinds = []string{KindSize, KindPattern, KindNeighbours, KindOutliers, KindSpread, KindBound, KindUnknown, KindUnjudged}

// String lists the kinds.
func (b Bits) String() string {
	var kinds []string
	for k, kind := range bitKinds {
		if b&(1<<k) != 0 {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, ", ")
}

// BatchVerdict is a short verdict about every row of a batch of fits. Judge says more about a single
// one.
type BatchVerdict struct {
	Flags []Bits    // flags of each row; 0 if model and data agree
	P     []float64 // smallest p-value of each row, over all its tests together; NaN if there were none
}

// JudgeBatch judges every row of a batch by the size, the pattern along the axis, the
// neighbours, the outliers and the spread of its residuals, and by its bounds, as
// Judge does; a row that is right is flagged with a probability of Settings.Level. The
// axis holds one value for each of the M residuals; one without values stands for
// their order. Rows that Failed, or have as many parameters as points, are
// not judged; rows that did not converge have UnjudgedBit beside what the tests found.
func JudgeBatch(ctx context.Context, b *optim.Batch, rows optim.Rows, r *optim.BatchResult, axis Axis, s Settings) (*BatchVerdict, error) {
	v := &BatchVerdict{Flags: make([]Bits, len(r.Status)), P: make([]float64, len(r.Status))}
	for i := range v.P {
		v.Flags[i], v.P[i] = UnjudgedBit, math.NaN()
	}
	level := cmp.Or(s.Level, Level)
	if m := b.Residuals(); axis.Values != nil && (len(axis.Values) != m || slices.ContainsFunc(axis.Values, math.IsNaN)) {
		return nil, fmt.Errorf("check: the axis has %s, but a row has %d residuals: give one number for each", errtext.Count(len(axis.Values), "value"), m)
	}
	if !(level > 0 && level < 1) {
		return nil, fmt.Errorf("check: the level is %g: want a number between 0 and 1, such as 0.01", level)
	}
	idle := sync.Pool{New: func() any { return new(Workspace) }} // workspaces that no goroutine uses now
	err := b.Linearise(ctx, rows, r, func(l optim.Linearised) {
		m := idle.Get().(*Workspace)
		v.Flags[l.Row], v.P[l.Row] = m.judgeRow(l, r, axis, level)
		idle.Put(m)
	})
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	return v, nil
}

// judgeRow tests the residuals of one row.
func (m *Workspace) judgeRow(l optim.Linearised, r *optim.BatchResult, axis Axis, level float64) (flags Bits, p float64) {
	n := len(r.Names)
	d := Data{Z: make([]float64, len(l.Residuals)), Relative: r.Relative(), Robust: r.Robust(), AtPoint: true}
	for i, v := range l.Residuals {
		d.Z[i] = -v
	}
	var bounds []test
	for k, name := range r.Names {
		column, sd := l.Jacobian[k*len(l.Points):(k+1)*len(l.Points)], r.SDs(l.Row)[k]
		active := r.Active != nil && r.Active[l.Row*n+k] != 0
		if !active && norm(column) > 0 { // a parameter on a bound did not adapt to the data
			d.Names, d.Jacobian = append(d.Names, name), append(d.Jacobian, column...)
		}
		if math.IsInf(sd, 1) {
			flags |= UnknownBit
		}
		d.OnBounds += int(truth(active))
		if active && sd > 0 && !math.IsInf(sd, 1) {
			pull := math.Abs(dot(column, d.Z)) / freed(l.Jacobian, len(l.Points), func(j int) bool { return r.Active[l.Row*n+j] == 0 }, k)
			if d.Relative { // in units of the scatter without the bound, as optim.Result.BeyondBound
				pull /= math.Sqrt(max(0, dot(d.Z, d.Z)-pull*pull) / float64(len(l.Points)-n))
			}
			bounds = append(bounds, Bound{Name: name, Pull: pull}.test())
		}
	}
	at := Axis{Name: cmp.Or(axis.Name, pointAxis)}
	for _, i := range l.Points {
		if axis.Values == nil {
			at.Values = append(at.Values, float64(i+1))
		} else {
			at.Values = append(at.Values, axis.Values[i])
		}
	}
	m.reset()
	w := m.residuals(&d)
	w.level = level
	if !r.Status[l.Row].Converged() {
		flags |= UnjudgedBit
	}
	if w.dof() < 1 {
		return flags | UnjudgedBit, math.NaN()
	}
	if _, off := w.offMinimum(); off {
		flags |= UnjudgedBit
	}
	outlier, _ := w.outlierTest()
	tests := append(bounds, w.sizeTest(), outlier, w.spreadTest(at), w.neighbourTest(w.along(at)))
	tests = append(tests, w.patterns(at)...)
	tests = slices.DeleteFunc(tests, func(t test) bool { return t.say == nil || math.IsNaN(t.p) })
	adjusted := holm(tests)
	for i, t := range tests {
		if adjusted[i] <= level && !t.harmless && !t.forgiven && !t.follows(tests) {
			flags |= 1 << slices.Index(bitKinds, t.kind)
		}
	}
	if flags == 0 && int(w.dof()) <= d.OnBounds { // as in Judge
		flags = UnjudgedBit
	}
	return flags, slices.Min(append(adjusted, 1))
}

// String counts the rows and their flags.
func (v *BatchVerdict) String() string {
	count, right := map[string]int{}, 0
	for _, b := range v.Flags {
		if b == 0 {
			right++
		}
		for k, kind := range bitKinds {
			if b&(1<<k) != 0 {
				count[kind]++
			}
		}
	}
	text := fmt.Sprintf("The model agrees with the data in %d of %s.", right, errtext.Count(len(v.Flags), "row"))
	for _, kind := range bitKinds {
		if n := count[kind]; n > 0 {
			text += fmt.Sprintf("\n- %s: %s", kind, errtext.Count(n, "row"))
		}
	}
	return text
}
