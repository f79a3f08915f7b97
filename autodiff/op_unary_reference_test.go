// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	encoding "encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// thorough is set in the slow tests, which read all points of the references; the quick ones read the first quickPoints.
var thorough = false

const quickPoints = 400

// referenceColumns returns the columns of each member of an archive of testdata, whose numbers have as many bytes as
// widths says. Numbers are big-endian, and columns are planes of their bytes.
func referenceColumns(t *testing.T, path string, widths func(name string) []int) map[string][][]float64 {
	t.Helper()
	all := map[string][][]float64{}
	for name, raw := range archive(t, path) {
		row := 0
		for _, w := range widths(name) {
			row += w
		}
		n, columns := len(raw)/row, [][]float64{}
		if len(raw) != n*row {
			t.Fatalf("%s of %s has %d bytes, which are no whole rows of %d", name, path, len(raw), row)
		}
		for _, w := range widths(name) {
			column := make([]float64, n)
			for i := range column {
				var word [8]byte
				for plane := range w {
					word[plane] = raw[plane*n+i]
				}
				column[i] = math.Float64frombits(encoding.BigEndian.Uint64(word[:]))
			}
			if raw = raw[w*n:]; !thorough {
				column = column[:min(n, quickPoints)]
			}
			columns = append(columns, column)
		}
		all[name] = columns
	}
	return all
}

// unaryReference returns the rows of each operation of testdata/unary.zip, which testdata/unary.py made: x, the value, the
// first, the second and the third derivative, of which only the size is known.
func unaryReference(t *testing.T) map[string][][5]float64 {
	t.Helper()
	all := map[string][][5]float64{}
	for name, columns := range referenceColumns(t, "testdata/unary.zip", func(string) []int { return []int{8, 8, 8, 8, 2} }) {
		rows := make([][5]float64, len(columns[0]))
		for k, c := range columns {
			for i, v := range c {
				rows[i][k] = v
			}
		}
		all[name] = rows
	}
	return all
}

// unaryTolerance is relative to the value, in units of the precision's roundoff: derivatives are chains of a few dozen
// roundings. The test adds unaryInput roundings of x, as the next derivative carries them to the result, because near a
// zero that is not a number of the precision nothing else can be asked.
const unaryTolerance, unaryInput = 400, 16

// Every unary operation and both derivatives agree with references of 60 digits over the whole range of both precisions.
func TestUnaryReference(t *testing.T) {
	reference := unaryReference(t)
	for _, op := range standard {
		if !op.IsElementwise() || op.Arity != 1 {
			continue
		}
		rows, ok := reference[op.Name]
		switch {
		case ok && thorough && len(rows) < 2000:
			t.Errorf("%s has %d points: want 2,000", op.Name, len(rows))
		case ok:
			t.Run(op.Name, func(t *testing.T) { compareRows(t, op, rows) })
		default:
			t.Errorf("%s has no reference: add it to TABLE in testdata/unary.py, run that script, and commit unary.zip", op.Name)
		}
	}
}

// orders returns how many derivatives of an operation count: those of a derivative that is an operation of its own stop
// at the second of the function.
func orders(name string) int {
	switch {
	case strings.HasSuffix(name, "_slope"), name == "erfcx_1":
		return 1
	case strings.HasSuffix(name, "_curve"), strings.HasSuffix(name, "_third"), name == "erfcx_2":
		return 0
	}
	return 2
}

// loose are larger tolerances, in the same units.
var loose = map[string]float64{
	"log_factorial_rest": 4000, // k log k is added where Stirling's error begins
}

// largest are the largest arguments of operations that lose digits beyond.
var largest = map[string]float64{
	"log_factorial_rest": 30, // its gradient is Digamma(k+1) - log k, which is used for counts' constants only
}

func compareRows(t *testing.T, op *ad.Op, rows [][5]float64) {
	if most, ok := largest[op.Name]; ok {
		rows = slices.DeleteFunc(slices.Clone(rows), func(r [5]float64) bool { return math.Abs(r[0]) > most })
	}
	for _, w := range ways() {
		var at [][5]float64
		for _, r := range rows {
			if w.bits == 64 || float64(float32(r[0])) == r[0] {
				at = append(at, r)
			}
		}
		values := make([]float64, len(at))
		for i, r := range at {
			values[i] = r[0]
		}
		x := ad.Input("x", len(at))
		y := op.Apply(x)
		first := ad.Grad(y, x)[0]
		second := ad.Grad(first, x)[0]
		got := results(t, w, []*ad.Node{y, first, second}, []*ad.Node{x}, [][]float64{values})
		for k, what := range []string{"value", "first derivative", "second derivative"}[:1+orders(op.Name)] {
			worst, bad, first := 0.0, 0, ""
			for i, r := range at {
				e := unitsOff(w.bits, got[k][i], r[k+1], math.Abs(r[0]*r[k+2]))
				if worst = max(worst, e); !(e <= max(unaryTolerance, loose[op.Name])) {
					if bad++; bad == 1 || e >= worst {
						first = fmt.Sprintf("at %.17g %.17g, want %.17g", r[0], got[k][i], r[k+1])
					}
				}
			}
			if bad > 0 {
				t.Errorf("%s, %v, %s: %d of %d points are off, the worst by %.3g roundings: %s", op.Name, w, what, bad, len(at), worst, first)
			}
		}
	}
}

// unitsOff returns how many roundings of the precision got is from want, beyond those that unaryInput roundings of the
// input explain, of which one moves the result by slope roundings. Numbers below the normal ones count as 0, and numbers
// beyond the largest as infinite. A NaN in want says nothing.
func unitsOff(bits int, got, want, slope float64) float64 {
	unit, least, most := 0x1p-53, 0x1p-1022, math.MaxFloat64
	if bits == 32 {
		unit, least, most = 0x1p-24, 0x1p-126, math.MaxFloat32
	}
	switch {
	case want != want || got == want:
		return 0
	case math.Abs(want) > most*(1-unaryTolerance*unit):
		if math.Abs(got) > most*(1-2*unaryTolerance*unit) && math.Signbit(got) == math.Signbit(want) {
			return 0
		}
		return math.Inf(1)
	case got != got || math.IsInf(got, 0):
		return math.Inf(1)
	}
	d := math.Abs(got-want) - least
	if s := math.Abs(slope); s == s {
		d -= unaryInput * unit * s
	}
	return max(0, d/(unit*math.Abs(want)))
}
