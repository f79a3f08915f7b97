package optim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Method is an algorithm for least squares.
type Method string

// The methods: Auto takes LM where there are no bounds and TRF where there are.
const (
	Auto Method = ""
	LM   Method = "lm"  // Levenberg-Marquardt in a scaled trust region (Moré 1978); what TRF does without bounds
	TRF  Method = "trf" // trust region reflective, for bounds (Branch, Coleman and Li 1999)
)

// Settings of LeastSquares. The zero value is the default.
type Settings struct {
	Method Method // Default Auto.
	// Loss and LossScale forgive outliers: residuals well above LossScale count
	// less than their square. Default: least squares, scale 1.
	Loss      Loss
	LossScale float64
	// FTol, XTol and GTol end the fit on small relative changes of the cost and of
	// the parameters, and on a small gradient (the cosine between residuals and
	// Jacobian columns). Default 1e-8; negative switches one off.
	FTol, XTol, GTol float64
	// MaxEvaluations bounds the evaluations of the residual. Default 400 times
	// the number of parameters.
	MaxEvaluations int
	// NoPolish leaves the result as the tolerances found it. By default Gauss-
	// Newton steps follow, with parameters at their bounds held there, while they
	// lower the cost: they bring the minimum to rounding error.
	NoPolish bool
	// Fixed holds parameters, by name, at a value.
	Fixed map[string]float64
	// RelativeSigma scales the covariance by the reduced chi-square, for
	// residuals whose errors are known only up to a factor.
	RelativeSigma bool
}

func (s Settings) withDefaults(n int) (Settings, error) {
	tol := func(v *float64) {
		if *v == 0 {
			*v = 1e-8
		}
		*v = max(*v, 0)
	}
	tol(&s.FTol)
	tol(&s.XTol)
	tol(&s.GTol)
	if s.LossScale == 0 {
		s.LossScale = 1
	}
	if s.MaxEvaluations == 0 {
		s.MaxEvaluations = 400 * n
	}
	var errs []error
	if !(s.LossScale > 0) {
		errs = append(errs, fmt.Errorf("optim: LossScale is %g: want it above 0", s.LossScale))
	}
	if s.MaxEvaluations < 1 {
		errs = append(errs, fmt.Errorf("optim: MaxEvaluations is %d: want at least 1", s.MaxEvaluations))
	}
	if s.Method != Auto && s.Method != LM && s.Method != TRF {
		errs = append(errs, fmt.Errorf("optim: method %q: want lm or trf", string(s.Method)))
	}
	return s, errors.Join(append(errs, s.Loss.check())...)
}

// LeastSquares minimises scale^2/2 sum rho((r_i/scale)^2) over the parameters.
//
// An error means that the problem or the settings cannot be used, or that the
// residual failed at the start; every other end is a Status. On cancellation
// the best point so far is returned with the context's error.
func LeastSquares(ctx context.Context, p *Problem, s Settings) (*Result, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	free, full, err := p.hold(s.Fixed)
	if err != nil {
		return nil, err
	}
	s, err = s.withDefaults(free.N)
	if err != nil {
		return nil, err
	}
	if s.Method == LM && free.bounded() {
		return nil, fmt.Errorf("optim: method lm takes no bounds: use trf")
	}
	w, status, err := descend(ctx, free, s)
	if err != nil {
		return nil, err
	}
	if !s.Loss.plain() && status != Interrupted {
		w, status = viaSquares(ctx, free, s, w, status)
	}
	res := w.result(status)
	full(res)
	if status == Interrupted {
		return res, ctx.Err()
	}
	return res, nil
}

// descend runs one fit from the problem's start.
func descend(ctx context.Context, p *Problem, s Settings) (*work, Status, error) {
	w := newWork(p, s)
	if err := w.start(); err != nil {
		return nil, Stuck, err
	}
	status := w.minimise(ctx)
	if !s.NoPolish && status != Interrupted {
		status = w.polish(status)
	}
	return w, status, nil
}

// viaSquares fits again from the least-squares solution and returns the fit of
// the lower cost: a loss that forgives has more than one minimum.
func viaSquares(ctx context.Context, p *Problem, s Settings, w *work, status Status) (*work, Status) {
	plain := s
	plain.Loss, plain.NoPolish = Linear, true
	first, _, err := descend(ctx, p, plain)
	if err != nil {
		return w, status
	}
	q := *p
	q.Start = slices.Clone(first.x)
	second, end, err := descend(ctx, &q, s)
	evaluations := w.nfev + first.nfev
	if err == nil {
		evaluations += second.nfev
		if end.Converged() && (second.cost < w.cost*(1-1e-12) || !status.Converged()) {
			w, status = second, end
		}
	}
	w.nfev = evaluations
	if ctx.Err() != nil {
		status = Interrupted
	}
	return w, status
}

// hold returns the problem of the parameters that are not fixed, and a function
// that completes its result.
func (p *Problem) hold(fixed map[string]float64) (*Problem, func(*Result), error) {
	if len(fixed) == 0 {
		return p, func(r *Result) { r.Names = p.allNames() }, nil
	}
	at := slices.Clone(p.Start)
	var free []int
	known := 0
	for i := range p.N {
		v, ok := fixed[p.name(i)]
		if !ok {
			free = append(free, i)
			continue
		}
		known++
		at[i] = v
	}
	if known < len(fixed) {
		return nil, nil, fmt.Errorf("optim: fixed parameters %v: the problem has %v", sortedKeys(fixed), p.allNames())
	}
	if len(free) == 0 {
		return nil, nil, fmt.Errorf("optim: every parameter is fixed: nothing to fit")
	}
	q := &Problem{M: p.M, N: len(free)}
	for _, i := range free {
		q.Names, q.Start = append(q.Names, p.name(i)), append(q.Start, p.Start[i])
		q.Lower, q.Upper = append(q.Lower, p.Lower[i]), append(q.Upper, p.Upper[i])
	}
	expand := func(x []float64) []float64 {
		for k, i := range free {
			at[i] = x[k]
		}
		return at
	}
	q.Residual = func(r, x []float64) error { return p.Residual(r, expand(x)) }
	if p.Jacobian != nil {
		all := make([]float64, p.M*p.N)
		q.Jacobian = func(j, x []float64) error {
			if err := p.Jacobian(all, expand(x)); err != nil {
				return err
			}
			for k, i := range free {
				copy(j[k*p.M:(k+1)*p.M], all[i*p.M:])
			}
			return nil
		}
	}
	return q, func(r *Result) { r.spread(p, free, slices.Clone(expand(r.X))) }, nil
}

func (p *Problem) allNames() []string {
	out := make([]string, p.N)
	for i := range out {
		out[i] = p.name(i)
	}
	return out
}

func sortedKeys(m map[string]float64) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// work is the memory of one fit.
type work struct {
	p       *Problem
	s       Settings
	m, n    int
	rows    int // of the factored matrix: at least n
	x, xNew []float64
	f, fNew []float64 // residuals
	fw, j   []float64 // weighted residuals and Jacobian
	cost    float64
	grad    []float64
	scale   []float64 // column norms, running maximum
	nfev    int
	njev    int
	a, b, r []float64 // factorisation: scaled Jacobian, right-hand side, triangle
	aug     []float64
	sv, v   []float64 // singular values and right vectors of the scaled problem
	suf, uf []float64
	d       []float64 // scaling of the step
	diagH   []float64
	gh      []float64
	step    []float64
	stepH   []float64
	scratch [4][]float64
	rhs     []float64
}

func newWork(p *Problem, s Settings) *work {
	m, n := p.M, p.N
	rows := max(m, n)
	w := &work{p: p, s: s, m: m, n: n, rows: rows}
	vec := func(k int) []float64 { return make([]float64, k) }
	w.x, w.xNew, w.grad, w.scale = slices.Clone(p.Start), vec(n), vec(n), vec(n)
	w.f, w.fNew, w.fw, w.j = vec(m), vec(m), vec(m), vec(m*n)
	w.a, w.b, w.r, w.aug, w.rhs = vec(rows*n), vec(rows), vec(n*n), vec(2*n*n), vec(2*n)
	w.sv, w.v, w.suf, w.uf, w.d, w.diagH, w.gh, w.step, w.stepH = vec(n), vec(n*n), vec(n), vec(n), vec(n), vec(n), vec(n), vec(n), vec(n)
	for i := range w.scratch {
		w.scratch[i] = vec(n)
	}
	return w
}

// start evaluates the residual and the Jacobian at the start.
func (w *work) start() error {
	if w.p.bounded() {
		w.inside(w.x, 1e-10)
	}
	if err := w.residual(w.f, w.x); err != nil {
		return fmt.Errorf("optim: the residual failed at the start: %w", err)
	}
	for i, v := range w.f {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("optim: residual %d is %g at the start %v: choose another start or mask the point", i, v, w.x)
		}
	}
	w.cost = w.s.Loss.cost(w.f, w.s.LossScale)
	return w.linearise()
}

func (w *work) residual(r, x []float64) error {
	w.nfev++
	return w.p.Residual(r, x)
}

// linearise computes the weighted Jacobian, the gradient and the column scales
// at w.x.
func (w *work) linearise() error {
	w.njev++
	if err := w.jacobian(); err != nil {
		return fmt.Errorf("optim: the Jacobian failed: %w", err)
	}
	copy(w.fw, w.f)
	w.s.Loss.weigh(w.fw, w.j, w.s.LossScale)
	for k := range w.n {
		col := w.j[k*w.m : (k+1)*w.m]
		w.grad[k] = dot(col, w.fw)
		c := norm(col)
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return fmt.Errorf("optim: the derivative with respect to %s is not finite at %v", w.p.name(k), w.x)
		}
		if w.njev == 1 && c == 0 {
			c = 1
		}
		w.scale[k] = max(w.scale[k], c)
	}
	return nil
}

func (w *work) jacobian() error {
	if w.p.Jacobian != nil {
		return w.p.Jacobian(w.j, w.x)
	}
	up, down := make([]float64, w.m), make([]float64, w.m)
	for k := range w.n {
		x0 := w.x[k]
		h := 6e-6 * max(math.Abs(x0), 1e-3)
		hi, lo := min(x0+h, w.p.Upper[k]), max(x0-h, w.p.Lower[k])
		w.x[k] = hi
		err := w.residual(up, w.x)
		w.x[k] = lo
		err = errors.Join(err, w.residual(down, w.x))
		if w.x[k] = x0; err != nil {
			return err
		}
		for i := range up {
			w.j[k*w.m+i] = (up[i] - down[i]) / (hi - lo)
		}
	}
	return nil
}
