// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/infer/internal/warmup"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// purposes of the random streams of approximations.
const (
	purposePathfinder uint32 = iota + 131
	purposeADVI
	purposeLaplace
	purposeResample
)

// PathfinderSettings says how to look; its zero value is the default.
type PathfinderSettings struct {
	// Paths is the number of starts, from each of which a path ascends. Default 4.
	Paths int
	// Draws is the number of draws of the result. Default 1000.
	Draws int
	// ELBODraws is the number of draws that judge each place on a path. Default 25.
	ELBODraws int
	// Steps bounds the steps of a path. Default 1000.
	Steps int
	Seed  uint64
	// InitRadius bounds random starts, which are uniform within it. Default 2.
	InitRadius float64
	Init       [][]float64
}

// Pathfinder ascends the log density from several starts and takes, on each path,
// the normal distribution of L-BFGS's inverse Hessian that is nearest the posterior: before
// the mode, where that lies outside the typical set. Draws of all paths are
// resampled by their importance weights.
//
// Reference: Zhang, Carpenter, Gelman and Vehtari, JMLR 23 (2022) 306.
func Pathfinder(ctx context.Context, t Target, c PathfinderSettings) (_ *Approximation, err error) {
	defer given.Caught(&err)
	if err := given.Args("infer.Pathfinder", "ctx", ctx, "t", t); err != nil {
		return nil, err
	}
	if t.Dim() == 0 {
		return nil, errors.New("infer: Pathfinder: the target has no parameters to fit: declare at least one")
	}
	for _, s := range []struct {
		v *int
		d int
	}{{&c.Paths, 4}, {&c.Draws, 1000}, {&c.ELBODraws, 25}, {&c.Steps, 1000}} {
		if *s.v == 0 {
			*s.v = s.d
		}
		if *s.v < 0 {
			return nil, fmt.Errorf("infer: Pathfinder: a setting is %d: want a positive number", *s.v)
		}
	}
	if c.InitRadius == 0 {
		c.InitRadius = 2
	}
	paths, errs := make([]*path, c.Paths), make([]error, c.Paths)
	var wg sync.WaitGroup
	for i := range paths {
		paths[i] = &path{density: density{target: t.Clone()}, cfg: &c, src: tensor.NewStream(c.Seed, purposePathfinder, uint32(i))}
		wg.Go(func() {
			defer given.Caught(&errs[i])
			errs[i] = paths[i].find(ctx, i)
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return joinPaths(t, paths, errs, &c)
}

func joinPaths(t Target, paths []*path, errs []error, c *PathfinderSettings) (*Approximation, error) {
	var q [][]float64
	var logP, logQ []float64
	elbo, calls, failed := math.Inf(-1), 0, 0
	for i, p := range paths {
		calls += p.calls
		if errs[i] != nil {
			failed++
			continue
		}
		q, logP, logQ = append(q, p.q...), append(logP, p.logP...), append(logQ, p.logQ...)
		elbo = math.Max(elbo, p.best)
	}
	if failed == len(paths) {
		return nil, fmt.Errorf("infer: Pathfinder: no path succeeded: %w", errors.Join(errs...))
	}
	all, err := newApproximation("Pathfinder", t, q, logP, logQ)
	if err != nil {
		return nil, err
	}
	if all.ELBO, all.Gradients = elbo, calls; failed > 0 {
		all.Message = fmt.Sprintf("%d of %d paths failed: %v", failed, len(paths), errors.Join(errs...))
	}
	src := tensor.NewStream(c.Seed, purposeResample, 0)
	return all.resampled(c.Draws, &src)
}

// path is one ascent.
type path struct {
	density
	cfg *PathfinderSettings
	src tensor.Stream
	// best is the largest ELBO.
	best       float64
	q          [][]float64
	logP, logQ []float64
}

func (p *path) find(ctx context.Context, i int) error {
	n := p.target.Dim()
	a, err := p.start(i, n)
	if err != nil {
		return err
	}
	var nearest *localNormal
	p.best = math.Inf(-1)
	diagonal := make([]float64, n)
	for k := range diagonal {
		diagonal[k] = 1
	}
	for range p.cfg.Steps {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		before, pairs := a.lp, len(a.s)
		up, err := a.step()
		if err != nil {
			return err
		}
		if !up {
			break
		}
		if len(a.s) > pairs || len(a.s) == ascentMemory {
			updateDiagonal(diagonal, a.s[len(a.s)-1], a.y[len(a.y)-1])
		}
		distribution, ok := newLocalNormal(a, diagonal)
		if ok {
			elbo, err := p.judge(distribution)
			if err != nil {
				return err
			}
			if elbo > p.best {
				p.best, nearest = elbo, distribution
			}
		}
		if a.lp-before < 1e-10*math.Max(1, math.Abs(a.lp)) {
			break
		}
	}
	p.calls += a.calls
	if nearest == nil {
		return fmt.Errorf("infer: Pathfinder: path %d never reached a finite bound: choose an Init around which the density is finite", i)
	}
	return p.draw(nearest)
}

// start finds a finite place.
func (p *path) start(i, n int) (*ascent, error) {
	q, g := make([]float64, n), make([]float64, n)
	for range 100 {
		if i < len(p.cfg.Init) && p.cfg.Init[i] != nil {
			copy(q, p.cfg.Init[i])
		} else {
			for k := range q {
				q[k] = p.cfg.InitRadius * (2*p.src.Float64() - 1)
			}
		}
		lp, err := p.at(q, g)
		if err != nil {
			return nil, err
		}
		if linalg.Finite(lp) && linalg.AllFinite(g) {
			return newAscent(p.target, q, g, lp), nil
		}
	}
	if p.rejected != nil {
		return nil, fmt.Errorf("infer: Pathfinder: path %d found no finite start in 100 tries, the last of which was rejected: %w", i, p.rejected)
	}
	return nil, fmt.Errorf("infer: Pathfinder: path %d found no finite start in 100 tries: set Init, or check the priors", i)
}

// judge estimates the ELBO of a distribution.
func (p *path) judge(l *localNormal) (float64, error) {
	n := len(l.centre)
	q, g, sum := make([]float64, n), make([]float64, n), 0.0
	for range p.cfg.ELBODraws {
		logQ := l.draw(q, &p.src)
		lp, err := p.at(q, g)
		if err != nil {
			return 0, err
		}
		sum += (lp - logQ) / float64(p.cfg.ELBODraws)
	}
	return sum, nil
}

func (p *path) draw(l *localNormal) error {
	n := len(l.centre)
	g := make([]float64, n)
	for range p.cfg.Draws {
		q := make([]float64, n)
		logQ := l.draw(q, &p.src)
		lp, err := p.at(q, g)
		if err != nil {
			return err
		}
		p.q, p.logP, p.logQ = append(p.q, q), append(p.logP, lp), append(p.logQ, logQ)
	}
	return nil
}

// updateDiagonal is the diagonal of the inverse Hessian after the step s in which
// the gradient fell by y.
//
// Reference: Gilbert and Lemaréchal, doi:10.1007/BF01589113.
func updateDiagonal(alpha, s, y []float64) {
	var a, c float64
	for i := range alpha {
		a += y[i] * y[i] * alpha[i]
		c += s[i] * s[i] / alpha[i]
	}
	b := linalg.FastDot(y, s)
	for i, v := range alpha {
		next := 1 / (a/(b*v) + y[i]*y[i]/b - a*s[i]*s[i]/(b*c*v*v))
		if next > 0 && linalg.Finite(next) {
			alpha[i] = next
		}
	}
}

// localNormal is a normal distribution whose covariance diag(alpha) + B gamma B^T has a
// Cholesky factor in few dimensions.
type localNormal struct {
	// centre is the mean, and scale is the root of alpha.
	centre, scale []float64
	// q is an orthonormal basis in scaled coordinates, nil for all of space.
	q      *mat.Dense
	factor *mat.TriDense
	// logDet is the log determinant of the root of the covariance.
	logDet float64
	u      []float64
}

// newLocalNormal is the distribution at the place of the ascent. It returns false where
// the inverse Hessian is not positive definite.
func newLocalNormal(a *ascent, alpha []float64) (*localNormal, bool) {
	n, k := len(a.q), len(a.s)
	l := &localNormal{centre: make([]float64, n), scale: make([]float64, n), u: make([]float64, n)}
	for i, v := range alpha {
		l.scale[i] = math.Sqrt(v)
		l.logDet += math.Log(v) / 2
	}
	b, gamma := inverseHessian(a, alpha, l.scale)
	switch {
	case k == 0:
	case 2*k <= n:
		var qr mat.QR
		qr.Factorize(b)
		thin, full := mat.NewDense(n, 2*k, nil), &mat.Dense{}
		for i := range 2 * k {
			thin.Set(i, i, 1)
		}
		qr.QTo(full)
		l.q = warmup.Times(full, thin)
		var r mat.Dense
		qr.RTo(&r)
		b = mat.DenseCopyOf(r.Slice(0, 2*k, 0, 2*k))
	}
	if k > 0 && !l.factorise(warmup.Times(warmup.Times(b, gamma), mat.DenseCopyOf(b.T()))) {
		return nil, false
	}
	// centre = q + H^-1 grad, in scaled coordinates
	step := make([]float64, n)
	for i, g := range a.g {
		step[i] = l.scale[i] * g
	}
	l.apply(step, true)
	l.apply(step, false)
	for i, v := range step {
		l.centre[i] = a.q[i] + l.scale[i]*v
	}
	return l, linalg.AllFinite(l.centre)
}

// inverseHessian returns B (scaled) and gamma of the compact form of BFGS.
func inverseHessian(a *ascent, alpha, scale []float64) (b, gamma *mat.Dense) {
	n, k := len(a.q), len(a.s)
	if k == 0 {
		return nil, nil
	}
	b, gamma = mat.NewDense(n, 2*k, nil), mat.NewDense(2*k, 2*k, nil)
	r, middle := mat.NewDense(k, k, nil), mat.NewDense(k, k, nil)
	for i := range k {
		for x := range n {
			b.Set(x, i, scale[x]*a.y[i][x])
			b.Set(x, k+i, a.s[i][x]/scale[x])
		}
		for j := range k {
			if j >= i {
				r.Set(i, j, linalg.FastDot(a.s[i], a.y[j]))
			}
			sum := 0.0
			for x, v := range alpha {
				sum += a.y[i][x] * v * a.y[j][x]
			}
			if middle.Set(i, j, sum); i == j {
				middle.Set(i, i, sum+linalg.FastDot(a.s[i], a.y[i]))
			}
		}
	}
	inverse := mat.NewDense(k, k, nil)
	if err := inverse.Inverse(r); err != nil {
		var c mat.Condition
		if !errors.As(err, &c) || math.IsInf(float64(c), 1) {
			return b, gamma
		}
	}
	it := mat.DenseCopyOf(inverse.T())
	corner := warmup.Times(warmup.Times(it, middle), inverse)
	for i := range k {
		for j := range k {
			gamma.Set(i, k+j, -inverse.At(i, j))
			gamma.Set(k+i, j, -it.At(i, j))
			gamma.Set(k+i, k+j, corner.At(i, j))
		}
	}
	return b, gamma
}

// factorise sets the Cholesky factor of 1 + m.
func (l *localNormal) factorise(m *mat.Dense) bool {
	n, _ := m.Dims()
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2+truth(i == j))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(sym) {
		return false
	}
	l.factor = &mat.TriDense{}
	chol.LTo(l.factor)
	for i := range n {
		l.logDet += math.Log(l.factor.At(i, i))
	}
	return linalg.Finite(l.logDet)
}

// apply multiplies v by the factor of the covariance in scaled coordinates, or by
// its transpose.
func (l *localNormal) apply(v []float64, transposed bool) {
	if l.factor == nil {
		return
	}
	in := mat.NewVecDense(len(v), v)
	part := in
	if l.q != nil {
		part = &mat.VecDense{}
		part.MulVec(l.q.T(), in)
	}
	var moved, back mat.VecDense
	if transposed {
		moved.MulVec(l.factor.T(), part)
	} else {
		moved.MulVec(l.factor, part)
	}
	if l.q == nil {
		copy(v, moved.RawVector().Data)
		return
	}
	moved.SubVec(&moved, part)
	back.MulVec(l.q, &moved)
	in.AddVec(in, &back)
}

// draw fills q and returns its log density.
func (l *localNormal) draw(q []float64, src *tensor.Stream) float64 {
	src.NormalTo(l.u)
	logQ := -l.logDet - float64(len(q))*halfLog2Pi - linalg.FastDot(l.u, l.u)/2
	copy(q, l.u)
	l.apply(q, false)
	for i := range q {
		q[i] = l.centre[i] + l.scale[i]*q[i]
	}
	return logQ
}
