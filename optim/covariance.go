package optim

import (
	"fmt"
	"math"
	"strings"
)

// covariances fills rank, singular values and covariances: the pseudo-inverse
// of J^T J, from the singular values of J with columns scaled to length 1, so
// that units do not decide what counts as small.
func (w *work) covariances(r *Result) {
	factor := 1.0
	if w.s.RelativeSigma {
		if r.DoF() <= 0 {
			factor = math.Inf(1)
			r.Warnings = append(r.Warnings, fmt.Sprintf("%d residuals for %d parameters: the scale of the errors cannot be estimated", r.M, r.NFree))
		} else {
			factor = r.ReducedChiSquared()
		}
	}
	r.Cov = w.pseudoInverse(r, func(int) bool { return true }, factor, true)
	onBound := false
	for _, a := range r.Active {
		onBound = onBound || a != 0
	}
	r.FreeCov = r.Cov
	if onBound {
		r.FreeCov = w.pseudoInverse(r, func(i int) bool { return r.Active[i] == 0 }, factor, false)
	}
}

// pseudoInverse inverts over the parameters that pass use; describe records
// rank and undetermined directions in r.
func (w *work) pseudoInverse(r *Result, use func(i int) bool, factor float64, describe bool) []float64 {
	n := w.n
	length := make([]float64, n)
	clear(w.a)
	for k := range n {
		col := w.j[k*w.m : (k+1)*w.m]
		if length[k] = norm(col); length[k] == 0 || !use(k) {
			continue
		}
		for i, v := range col {
			w.a[k*w.rows+i] = v / length[k]
		}
	}
	qr(w.a, w.rows, n, w.b, w.r)
	jacobiSVD(w.r, n, n, w.sv, w.v)
	top := maxAbs(w.sv)
	cov := make([]float64, n*n)
	lost := make([]bool, n)
	rank := 0
	for k, s := range w.sv {
		dir := w.v[k*n : (k+1)*n]
		if s <= 0x1p-52*float64(max(w.m, n))*top {
			for i, c := range dir {
				lost[i] = lost[i] || use(i) && math.Abs(c) > 1e-8
			}
			if describe {
				r.Undetermined = append(r.Undetermined, w.describe(dir, length))
			}
			continue
		}
		rank++
		for i := range n {
			for j := range n {
				if length[i] > 0 && length[j] > 0 && use(i) && use(j) {
					cov[i*n+j] += dir[i] / length[i] * (dir[j] / length[j]) / (s * s) * factor
				}
			}
		}
	}
	for i := range n {
		if lost[i] {
			cov[i*n+i] = math.Inf(1)
		}
	}
	if describe {
		r.Rank, r.SingularValues = rank, append([]float64{}, w.sv...)
		if rank < n {
			r.Warnings = append(r.Warnings, "the data do not determine "+strings.Join(r.Undetermined, ", ")+": fix a parameter or add data")
		}
	}
	return cov
}

// describe writes a direction in parameter space as a combination of names.
func (w *work) describe(dir, length []float64) string {
	var parts []string
	for i, c := range dir {
		if math.Abs(c) > 1e-8 {
			if length[i] > 0 {
				c /= length[i]
			}
			parts = append(parts, fmt.Sprintf("%.3g %s", c, w.p.name(i)))
		}
	}
	return strings.Join(parts, " + ")
}
