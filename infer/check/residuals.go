package check

import "math"

// residuals are what remains of Z after the parameters, and later the flagged directions, have been
// projected out.
type residuals struct {
	d      *Data
	n      int
	base   span
	kept   []int       // parameters whose columns are in the span, in order; -1 for a direction
	r      [][]float64 // coordinates of these columns in the span
	z      []float64   // part of Z outside the span
	square float64     // |z|^2
	hat    []float64
	orders map[*float64]ordering
	pairs  []graph
	places []float64 // 1, 2, ... for data without an order of their own
	room   []float64 // scratch of try
}

func newResiduals(d *Data) *residuals {
	w := &residuals{d: d, n: len(d.Z)}
	for k := range d.Names {
		if at := w.base.addBeyond(d.Jacobian[k*w.n:(k+1)*w.n], leastOwn); at != nil {
			w.kept, w.r = append(w.kept, k), append(w.r, at)
		}
	}
	w.settle()
	return w
}

// settle computes the part of Z outside the span.
func (w *residuals) settle() {
	w.z = append(w.z[:0], w.d.Z...)
	w.base.outside(w.z)
	w.square = dot(w.z, w.z)
	w.hat = w.base.leverage(w.n)
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

// studentised returns the residuals divided by the standard deviations that the fit leaves them, or
// NaN if it leaves none.
func (w *residuals) studentised() []float64 {
	out := make([]float64, w.n)
	for i, z := range w.z {
		if out[i] = math.NaN(); w.hat[i] < 1-1e-9 {
			out[i] = z / math.Sqrt(1-w.hat[i])
		}
	}
	return out
}

// gain is what extra columns explain of the residuals.
type gain struct {
	used     int       // number of columns that add something
	explains float64   // sum of squares that the columns explain
	share    float64   // fraction of the sum of squares that the columns explain
	p        float64   // p-value of the F test, exact for normal residuals of a linear model
	coef, sd []float64 // coefficients of the columns and their errors; NaN for those that add nothing
	shift    []float64 // shift of each parameter in Names, in standard deviations
}

// few is the number of degrees of freedom below which the size of the residuals is poorly known.
const few = 10

// fewer is the number of degrees of freedom below which nothing can be tested if that size is not
// known otherwise: residuals of data with few decimals then lie exactly along a pattern now and
// then.
const fewer = 4

// mostRoom bounds the scratch that try keeps, in numbers.
const mostRoom = 1 << 16

// try tests whether columns explain more of the residuals than chance would.
//
//	F = (X/k) / ((S - X)/(dof - k)),  X = |U' z|^2,  S = |z|^2
//
// U is an orthonormal basis of the columns outside the Jacobian's. F does not depend
// on the scale of the residuals.
func (w *residuals) try(columns [][]float64) gain {
	first := len(w.base.q)
	if need := len(columns) * (w.n + first + len(columns)); len(w.room) < need && need < mostRoom {
		w.room = make([]float64, need)
	}
	s := span{q: append(make([][]float64, 0, first+len(columns)), w.base.q...), room: w.room}
	g := gain{p: 1, coef: nans(len(columns)), sd: nans(len(columns))}
	var at [][]float64
	var kept []int
	for k, c := range columns {
		if a := s.add(c); a != nil {
			at, kept = append(at, a), append(kept, k)
		}
	}
	g.used = len(kept)
	rest := w.dof() - float64(g.used)
	known := !w.d.Relative && !w.d.SigmaFitted
	if g.used == 0 || rest < 1 || w.square == 0 || !known && rest < fewer {
		return g
	}
	a := make([]float64, g.used)
	for k := range a {
		a[k] = dot(s.q[first+k], w.z)
		g.explains += a[k] * a[k]
	}
	g.share = min(g.explains/w.square, 1)
	g.p = betaTail(float64(g.used)/2, rest/2, g.share)
	if known && rest < few {
		_, alone := chiSquaredTails(g.explains, float64(g.used))
		g.p = max(g.p, alone) // of a few residuals the rest may be small by chance
	}
	w.solve(&g, first, at, kept, a)
	return g
}

// solve computes the coefficients of the columns, and the shifts of the parameters when the columns
// are added to the model.
func (w *residuals) solve(g *gain, first int, at [][]float64, kept []int, a []float64) {
	upper := func(i, j int) float64 { return at[j][first+i] }
	coef := backward(len(a), upper, a)
	scale := w.scale()
	for i, k := range kept {
		g.coef[k], g.sd[k] = coef[i], scale*math.Sqrt(inverseRow(len(a), upper, i))
	}
	onBase := make([]float64, len(w.kept)) // Q' B coef
	for i := range onBase {
		for j, c := range coef {
			onBase[i] -= at[j][i] * c
		}
	}
	jacobian := func(i, j int) float64 { return w.r[j][i] }
	move := backward(len(onBase), jacobian, onBase)
	g.shift = make([]float64, len(w.d.Names))
	for i, k := range w.kept {
		if k >= 0 {
			g.shift[k] = move[i] / (scale * math.Sqrt(inverseRow(len(move), jacobian, i)))
		}
	}
}

// moved returns the parameter that moves most, and by how much.
func (g *gain) moved(names []string) (name string, shift float64) {
	for k, s := range g.shift {
		if math.Abs(s) > math.Abs(shift) {
			name, shift = names[k], s
		}
	}
	return name, shift
}

// absorb adds columns to the model for good.
func (w *residuals) absorb(columns [][]float64) {
	for _, c := range columns {
		if at := w.base.add(c); at != nil {
			w.kept, w.r = append(w.kept, -1), append(w.r, at)
		}
	}
	w.settle()
}

// backward solves the triangular system u x = b.
func backward(n int, u func(i, j int) float64, b []float64) []float64 {
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = b[i]
		for j := i + 1; j < n; j++ {
			x[i] -= u(i, j) * x[j]
		}
		x[i] /= u(i, i)
	}
	return x
}

// inverseRow returns the squared length of row i of the inverse of u, which is element (i, i) of
// (u'u)^-1.
func inverseRow(n int, u func(i, j int) float64, i int) float64 {
	row, s := make([]float64, n), 0.0
	for j := i; j < n; j++ {
		row[j] = truth(j == i)
		for k := i; k < j; k++ {
			row[j] -= row[k] * u(k, j)
		}
		row[j] /= u(j, j)
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
