package optim

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// BatchResult holds the fits of a batch, row after row.
type BatchResult struct {
	Names []string
	X     []float64 // B x N; the start of rows that Failed
	// SD holds the standard deviations (B x N): +Inf for what the data of the row do
	// not determine, NaN for rows that Failed. FreeSD holds parameters on their
	// bounds fixed; it is nil without bounds.
	SD, FreeSD []float64
	Cov        []float64 // B x N x N, with BatchSettings.Covariance
	Cost       []float64 // scale^2/2 sum rho
	ChiSquared []float64 // sum of squared weighted residuals
	Points     []int     // residuals that count
	Status     []Status
	NFev       []int
	Active     []int8 // B x N: -1 or 1 where a parameter is on its lower or upper bound; nil without bounds

	b       *Batch
	s       BatchSettings
	lock    sync.Mutex
	reasons map[int]string
}

func newBatchResult(b *Batch, rows int, s BatchSettings, bounded bool) *BatchResult {
	r := &BatchResult{Names: b.names, b: b, s: s, reasons: map[int]string{}}
	r.X, r.SD = make([]float64, rows*b.n), repeated(math.NaN(), rows*b.n)
	r.Cost, r.ChiSquared = repeated(math.NaN(), rows), repeated(math.NaN(), rows)
	r.Points, r.NFev = make([]int, rows), make([]int, rows)
	r.Status = make([]Status, rows)
	for i := range r.Status {
		r.Status[i] = Interrupted
	}
	if bounded {
		r.FreeSD, r.Active = repeated(math.NaN(), rows*b.n), make([]int8, rows*b.n)
	}
	if s.Covariance {
		r.Cov = repeated(math.NaN(), rows*b.n*b.n)
	}
	return r
}

// Row returns the parameters of a row.
func (r *BatchResult) Row(i int) []float64 { n := len(r.Names); return r.X[i*n : (i+1)*n] }

// SDs returns the standard deviations of a row.
func (r *BatchResult) SDs(i int) []float64 { n := len(r.Names); return r.SD[i*n : (i+1)*n] }

// Reason says why a row Failed, or what its status means.
func (r *BatchResult) Reason(i int) string {
	if s, ok := r.reasons[i]; ok {
		return s
	}
	return r.Status[i].Message()
}

// Relative reports whether the errors were scaled by the residuals themselves.
func (r *BatchResult) Relative() bool { return r.s.RelativeSigma }

// Robust reports whether the loss forgave outliers.
func (r *BatchResult) Robust() bool { return r.s.Loss != Linear && !r.s.Loss.plain() }

// Failures lists the rows that Failed.
func (r *BatchResult) Failures() []int {
	var out []int
	for i := range r.reasons {
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// Converged counts the rows that converged.
func (r *BatchResult) Converged() int {
	n := 0
	for _, s := range r.Status {
		if s.Converged() {
			n++
		}
	}
	return n
}

// String is a line of counts by status.
func (r *BatchResult) String() string {
	count := map[string]int{}
	for _, s := range r.Status {
		count[s.String()]++
	}
	out := fmt.Sprintf("%d rows:", len(r.Status))
	for _, s := range []string{"converged", "max_evaluations", "stuck", "interrupted", "failed"} {
		if count[s] > 0 {
			out += fmt.Sprintf(" %d %s", count[s], s)
		}
	}
	return out
}

func (r *BatchResult) fail(row int, x []float64, err error) {
	n := len(r.Names)
	r.Status[row] = Failed
	copy(r.X[row*n:(row+1)*n], x)
	r.lock.Lock()
	r.reasons[row] = fmt.Sprintf("row %d: %v", row, err)
	r.lock.Unlock()
}

// store writes a finished fit.
func (c *batchWorker) store(v *lane) {
	r, n, i := c.res, c.b.n, v.row
	copy(r.X[i*n:], v.x)
	r.Cost[i], r.Status[i], r.NFev[i], r.Points[i] = v.cost, v.status, v.nfev, v.points
	for k, x := range v.x {
		switch {
		case r.Active == nil:
		case x <= c.rows.Lower[k] && v.g[k] >= 0:
			r.Active[i*n+k] = -1
		case x >= c.rows.Upper[k] && v.g[k] <= 0:
			r.Active[i*n+k] = 1
		}
	}
	if c.plain == nil {
		r.ChiSquared[i] = 2 * v.cost
		c.errors(v, i)
		return
	}
	if c.late = append(c.late, i); len(c.late) == lanes {
		c.catchUp()
	}
}

// catchUp computes the errors of robust fits from their plain residuals.
func (c *batchWorker) catchUp() {
	if len(c.late) == 0 {
		return
	}
	params, columns, weights := c.b.inputs(c.plain, c.rows)
	for l, row := range c.late {
		c.after[l].points, _ = c.fill(l, row, columns, weights)
		for k := range c.b.n {
			params[k*lanes+l] = c.res.X[row*c.b.n+k]
		}
	}
	if c.plain.Run() != nil {
		return
	}
	out := c.out
	c.out = nil
	for i := range c.plain.Program().Outputs() {
		c.out = append(c.out, c.plain.Output(i))
	}
	for l, row := range c.late {
		v := &c.after[l]
		v.reset(row, v.points)
		gramOf(c.step.gram, c.out[1:c.b.n+1], c.out[0], l)
		if c.step.linearise(v) {
			c.res.ChiSquared[row] = v.size * v.size
			c.errors(v, row)
		}
	}
	c.out, c.late = out, c.late[:0]
}

// errors fills the standard deviations and covariance of a row from the normal
// equations of v.
func (c *batchWorker) errors(v *lane, row int) {
	r, n := c.res, c.b.n
	cov := c.step.cov
	rank := c.step.invert(v, cov, func(int) bool { return true })
	scale := 1.0
	if c.s.RelativeSigma {
		if scale = r.ChiSquared[row] / float64(v.points-rank); v.points <= rank {
			scale = math.Inf(1)
		}
	}
	for k := range n {
		r.SD[row*n+k] = math.Sqrt(scale * cov[k*n+k])
	}
	if r.Cov != nil {
		to := r.Cov[row*n*n : (row+1)*n*n]
		for e, x := range cov {
			if to[e] = scale * x; math.IsInf(scale, 1) {
				to[e] = scale
			}
		}
	}
	if r.FreeSD == nil {
		return
	}
	on := slices.ContainsFunc(r.Active[row*n:(row+1)*n], func(a int8) bool { return a != 0 })
	if on {
		c.step.invert(v, cov, func(k int) bool { return r.Active[row*n+k] == 0 })
	}
	for k := range n {
		r.FreeSD[row*n+k] = math.Sqrt(scale * cov[k*n+k])
		if cov[k*n+k] == 0 {
			r.FreeSD[row*n+k] = 0
		}
	}
}

// invert sets cov to the pseudo-inverse of the normal equations of the
// parameters that pass use, +Inf on the diagonal of those that they do not
// determine, and returns the rank.
func (t *stepper) invert(v *lane, cov []float64, use func(k int) bool) (rank int) {
	n := t.n
	for k := range n {
		v.free[k] = use(k)
	}
	k := t.factor(v, 0)
	clear(cov)
	if t.minute < dull {
		return t.invertBySVD(v, cov)
	}
	for j, fj := range t.at[:k] {
		clear(t.b[:k])
		t.b[j] = 1
		solveInverse(t.a, t.b[:k], k)
		for i, fi := range t.at[:k] {
			cov[fi*n+fj] = t.b[i] * v.d[fi] * v.d[fj]
		}
	}
	return k
}

// invertBySVD is invert by singular values, of the triangle where there is one.
func (t *stepper) invertBySVD(v *lane, cov []float64) (rank int) {
	n := t.n
	r, least := make([]float64, n*n), 0x1p-52*float64(max(t.m, n))
	if v.orthogonal {
		copy(r, v.r)
	} else {
		copy(r, v.h)
		least = math.Sqrt(0x1p-52 * float64(n)) // of roots of what is squared
	}
	for i := range n {
		for j := range n {
			if !v.free[i] || !v.orthogonal && !v.free[j] {
				r[i*n+j] = 0
			}
		}
	}
	linalg.SVD(r, n, n, t.sd, t.v)
	if !v.orthogonal {
		for k, s := range t.sd {
			t.sd[k] = math.Sqrt(s)
		}
	}
	top := linalg.MaxAbs(t.sd)
	for k, s := range t.sd {
		dir := t.v[k*n : (k+1)*n]
		if s <= least*top {
			for i, x := range dir {
				if v.free[i] && math.Abs(x) > 1e-6 {
					cov[i*n+i] = math.Inf(1)
				}
			}
			continue
		}
		rank++
		for i, a := range dir {
			for j, b := range dir {
				cov[i*n+j] += a * b / (s * s) * v.d[i] * v.d[j]
			}
		}
	}
	return rank
}
