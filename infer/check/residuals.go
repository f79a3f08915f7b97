// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import "math"

// residuals are what remains of Z after the parameters, and later the flagged directions, have been
// projected out.
type residuals struct {
	d      *Data
	mem    *Workspace
	level  float64 // p-value above which a finding is not told, and so needs no words
	n      int
	base   span
	kept   []int       // parameters whose columns are in the span, in order; -1 for a direction
	r      [][]float64 // coordinates of these columns in the span
	z      []float64   // part of Z outside the span
	square float64     // |z|^2
	hat    []float64
	// studentised are the residuals divided by the standard deviations that the fit leaves them, or NaN
	// if it leaves none.
	studentised []float64
	roots       []float64 // see cubeRoots
	pairs       []graph
	absorbed    bool // whether a departure was added to the model
	outliers    bool // whether outliers are told after the size of the other residuals
}

// residuals projects the parameters out of Z.
func (m *Workspace) residuals(d *Data) *residuals {
	w := m.of(d)
	w.base.q = make([][]float64, 0, len(d.Names)+1)
	w.kept, w.r = make([]int, 0, len(d.Names)+1), make([][]float64, 0, len(d.Names)+1)
	for k := range d.Names {
		if at := w.base.addBeyond(d.Jacobian[k*w.n:(k+1)*w.n], leastOwn); at != nil {
			w.kept, w.r = append(w.kept, k), append(w.r, at)
		}
	}
	w.settle()
	return w
}

// of returns the residuals of a model without parameters, unsettled.
func (m *Workspace) of(d *Data) *residuals {
	n := len(d.Z)
	return &residuals{d: d, mem: m, n: n, base: span{mem: &m.numbers}, z: m.numbers.take(n), hat: m.numbers.take(n), studentised: m.numbers.take(n)}
}

// settle computes the part of Z outside the span.
func (w *residuals) settle() {
	copy(w.z, w.d.Z)
	w.base.outside(w.z)
	w.square = dot(w.z, w.z)
	w.base.leverage(w.hat)
	w.roots = nil
	for i, z := range w.z {
		if w.studentised[i] = math.NaN(); w.hat[i] < 1-1e-9 {
			w.studentised[i] = z / math.Sqrt(1-w.hat[i])
		}
	}
}

// lost returns the number of parameters whose columns add nothing to those before them.
func (w *residuals) lost() int {
	own := 0
	for _, k := range w.kept {
		if k >= 0 {
			own++
		}
	}
	return len(w.d.Names) - own
}

// dof returns the remaining number of degrees of freedom.
func (w *residuals) dof() float64 { return float64(w.n - len(w.base.q)) }

// scale returns the standard deviation of the residuals: 1 if it is known.
func (w *residuals) scale() float64 {
	if w.d.Relative {
		return math.Sqrt(w.square / w.dof())
	}
	return 1
}

// fine reports whether the residuals are large beside the steps in which the data were written down.
func (w *residuals) fine() bool { return w.d.Step > 0 && w.scale() > fineness*w.d.Step }

// gain is what extra columns explain of the residuals.
type gain struct {
	used     int       // number of columns that add something
	explains float64   // sum of squares that the columns explain
	share    float64   // fraction of the sum of squares that the columns explain
	p        float64   // p-value of the F test, exact for normal residuals of a linear model
	coef     []float64 // coefficients of the columns; NaN for those that add nothing

	// solve sets the following.
	sd    []float64 // errors of the coefficients
	shift []float64 // shift of each parameter in Names, in standard deviations

	at   [][]float64 // coordinates of the columns that add something, see span.add
	kept []int       // these columns
}

// few is the number of degrees of freedom below which the size of the residuals is poorly known.
const few = 10

// fewer is the number of degrees of freedom below which nothing can be tested if that size is not
// known otherwise: residuals of data with few decimals then lie exactly along a pattern now and
// then, unless they are fineness steps of those decimals large.
const (
	fewer    = 4
	fineness = 25
)

// try tests whether columns explain more of the residuals than chance would.
//
//	F = (X/k) / ((S - X)/(dof - k)),  X = |U' z|^2,  S = |z|^2
//
// U is an orthonormal basis of the columns outside the Jacobian's. F does not depend
// on the scale of the residuals.
func (w *residuals) try(columns [][]float64) gain {
	m, n := w.mem, len(columns)
	s := span{q: append(m.basis[:0], w.base.q...), mem: &m.numbers}
	g := gain{p: 1, coef: m.numbers.take(n), at: m.rows.take(n)[:0], kept: m.places.take(n)[:0]}
	for k, c := range columns {
		g.coef[k] = math.NaN()
		if a := s.add(c); a != nil {
			g.at, g.kept = append(g.at, a), append(g.kept, k)
		}
	}
	m.basis = s.q
	g.used = len(g.kept)
	rest := w.dof() - float64(g.used)
	known := !w.d.Relative && !w.d.SigmaFitted
	if g.used == 0 || rest < 1 || w.square == 0 || !known && rest < fewer && !w.fine() {
		return g
	}
	a := m.numbers.take(g.used)
	for k := range a {
		a[k] = dot(s.q[len(w.base.q)+k], w.z)
		g.explains += a[k] * a[k]
	}
	g.share = min(g.explains/w.square, 1)
	g.p = betaTail(float64(g.used)/2, rest/2, g.share)
	if known && rest < few {
		_, alone := chiSquaredTails(g.explains, float64(g.used))
		g.p = max(g.p, alone) // of a few residuals the rest may be small by chance
	}
	for i, c := range backward(g.at, len(w.base.q), a) {
		g.coef[g.kept[i]] = c
	}
	if g.p <= w.level {
		w.solve(&g)
	}
	return g
}

// solve computes the errors of the coefficients, and the shifts of the parameters when the columns
// are added to the model.
func (w *residuals) solve(g *gain) {
	first, scale := len(w.base.q), w.scale()
	g.sd, g.shift = nans(len(g.coef)), make([]float64, len(w.d.Names))
	onBase := make([]float64, len(w.kept)) // Q' B coef
	for i, k := range g.kept {
		g.sd[k] = scale * math.Sqrt(inverseRow(g.at, first, i))
		for j := range onBase {
			onBase[j] -= g.at[i][j] * g.coef[k]
		}
	}
	move := backward(w.r, 0, onBase)
	for i, k := range w.kept {
		if k >= 0 {
			g.shift[k] = move[i] / (scale * math.Sqrt(inverseRow(w.r, 0, i)))
		}
	}
}

// moved returns the parameter that moves most, and by how much.
func (g *gain) moved(names []string) (name string, shift float64) {
	for k, s := range g.shift {
		if names[k] != "" && math.Abs(s) > math.Abs(shift) {
			name, shift = names[k], s
		}
	}
	return name, shift
}

// absorb adds columns to the model for good.
func (w *residuals) absorb(columns [][]float64) {
	w.absorbed = true
	for _, c := range columns {
		if at := w.base.add(c); at != nil {
			w.kept, w.r = append(w.kept, -1), append(w.r, at)
		}
	}
	w.settle()
}

// backward replaces b by the solution x of u x = b, where column j of the triangle u is at[j] from first on.
func backward(at [][]float64, first int, b []float64) []float64 {
	for i := len(b) - 1; i >= 0; i-- {
		for j := i + 1; j < len(b); j++ {
			b[i] -= at[j][first+i] * b[j]
		}
		b[i] /= at[i][first+i]
	}
	return b
}

// inverseRow returns the squared length of row i of the inverse of u, see backward, which is element (i, i) of
// (u'u)^-1.
func inverseRow(at [][]float64, first, i int) float64 {
	row, s := make([]float64, len(at)), 0.0
	for j := i; j < len(at); j++ {
		row[j] = truth(j == i)
		for k := i; k < j; k++ {
			row[j] -= row[k] * at[j][first+k]
		}
		row[j] /= at[j][first+j]
		s += row[j] * row[j]
	}
	return s
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func nans(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}
