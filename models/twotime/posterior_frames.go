// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"fmt"
	"maps"
	"math"

	"gonum.org/v1/gonum/mat"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/sim/xpcs/transport/noise"
	"github.com/euryale-dev/euryale/tensor"
)

// Wishart returns the log likelihood -(P/2)(log det C + tr(C^-1 S)) of measured correlations S = c2
// - 1, with their diagonal: it is the likelihood of the covariance of P independent Gaussian
// numbers in each frame. g is symmetric, with ones on the diagonal, as for transport.Square.
func Wishart(g, contrast, offset, inverseCount, speckles, s *ad.Node) *ad.Node {
	if len(g.Shape()) != 2 {
		return ad.Fail(fmt.Errorf("twotime: the correlations have shape %v: want a matrix of frames", g.Shape()))
	}
	c := ad.Add(ad.Add(ad.Mul(contrast, g), ad.Shift(offset, -1)), ad.Mul(inverseCount, ad.Eye(g.Shape()[0])))
	l := ad.Cholesky(c)
	trace := ad.Sum(ad.Diag(ad.CholeskySolve(l, s)))
	return ad.Mul(ad.Scale(-0.5, speckles), ad.Add(ad.CholeskyLogDet(l), trace))
}

// newByFrames takes the covariance of the frames. Fluctuations that are not Gaussian make estimates scatter more than the likelihood says: it
// is raised to the power at which none of its parameters is surer than the scatter of simulated pixels at the mode.
func newByFrames(ctx context.Context, d *Data, p *Priors, s PosteriorSettings) (*Posterior, error) {
	first, err := newByCells(ctx, d, p, s)
	if err != nil {
		return nil, err
	}
	plain, err := byFrames(d, p, 1, s.Backend)
	if err != nil {
		return nil, err
	}
	at, err := first.point(first.Mode.Unconstrained)
	if err != nil {
		return nil, err
	}
	start := maps.Clone(first.Mode.Values)
	start["contrast"], start["offset"] = at.Contrast, at.Offset
	for k, n := range d.Noise {
		start["contrast"][k], start["offset"][k] = max(at.Contrast[k], 1e-3), max(at.Offset[k], 1)
		start["inverse_count"] = append(start["inverse_count"], max(n.InverseCount, 1e-3))
	}
	init, err := plain.Unconstrain(start, 1e-3)
	if err != nil {
		return nil, err
	}
	mode, err := plain.MAP(ctx, infer.MAPSettings{Jacobian: true, Seed: s.Seed, Init: init})
	if err != nil {
		return nil, err
	}
	power, err := plain.powerOfFrames(ctx, p, mode.Unconstrained, s)
	if err != nil {
		return nil, err
	}
	post, err := byFrames(d, p, power, s.Backend)
	if err != nil {
		return nil, err
	}
	post.Power, post.Mode = power, mode
	return post, nil
}

// byFrames is the posterior with the likelihood raised to a power.
func byFrames(d *Data, p *Priors, power float64, b ad.Backend) (*Posterior, error) {
	n, angles := len(d.Setup.Times), len(d.Setup.Angles)
	if len(d.Noise) != angles {
		return nil, fmt.Errorf("twotime: there are %d numbers of speckles for %s, but the likelihood %s needs one for each: set Noise", len(d.Noise), errtext.Count(angles, "angle"), ByFrames)
	}
	m, theta, err := motion(d, p)
	if err != nil {
		return nil, err
	}
	largest := make([]float64, angles)
	for k, n := range d.Noise {
		largest[k] = max(2*n.InverseCount, 0.1*math.Abs(p.Contrast.Mean), 1e-6)
	}
	inverse := m.Param("inverse_count", dist.HalfNormal(ad.Const(largest)), infer.Shape(angles))
	contrast, offset := m.Param("contrast", dist.Normal(p.Contrast.Mean, p.Contrast.SD), infer.Shape(angles)), m.Param("offset", dist.Normal(p.Offset.Mean, p.Offset.SD), infer.Shape(angles))
	for k, g := range d.Setup.Pairs(theta, transport.Square(n)) {
		if d.DiagonalReplaced(k) {
			return nil, fmt.Errorf("twotime: the diagonal of angle %d is not as it was measured, but the likelihood %s needs it: take %s, which does not", k, ByFrames, ByCells)
		}
		measured := make([]float64, n*n)
		for i := range n {
			for j := range n {
				v := d.C2[k][min(i, j)*n+max(i, j)]
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return nil, fmt.Errorf("twotime: entry (%d, %d) of angle %d is %g, but the likelihood %s needs all entries: measure them all, or take another likelihood", i, j, k, v, ByFrames)
				}
				measured[i*n+j] = v - 1
			}
		}
		one := func(v *ad.Node) *ad.Node { return ad.Reshape(ad.Slice(v, 0, k, k+1)) }
		m.AddLogProb(fmt.Sprintf("angle %d", k), Wishart(g, one(contrast), one(offset), one(inverse), ad.Scalar(power*d.Noise[k].Speckles), ad.Const(measured, n, n)))
	}
	post, err := compiled(m, b)
	if err != nil {
		return nil, err
	}
	return &Posterior{Posterior: post, likelihood: ByFrames, angles: angles, data: d, priors: p}, nil
}

// powerOfFrames is one over the largest ratio of the variance of an estimate, from the scatter of the scores of simulated pixels, to the one
// that the likelihood says.
func (p *Posterior) powerOfFrames(ctx context.Context, priors *Priors, q []float64, s PosteriorSettings) (float64, error) {
	d := p.data
	at, err := p.point(q)
	if err != nil {
		return 0, err
	}
	free := priors.free(d.Setup.Names())
	program, err := derivatives(d.Setup, free)
	if err != nil {
		return 0, err
	}
	all := make([]Scores, p.angles)
	f, err := noise.NewFields(d.Setup)
	if err != nil {
		return 0, err
	}
	n := len(d.Setup.Times)
	for k, angle := range d.Setup.Angles {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		_, parts, err := f.At(at.Theta, angle)
		if err != nil {
			return 0, err
		}
		source, err := noise.NewSpeckles(parts, n, at.Contrast[k], at.Offset[k], at.inverse[k])
		if err != nil {
			return 0, err
		}
		st := program.NewState()
		for i, v := range noise.Turned(&d.Setup, at.Theta, angle) {
			st.Input(i)[0] = v
		}
		if err := st.Run(); err != nil {
			return 0, err
		}
		local := []*mat.SymDense{mat.NewSymDense(n, nil), mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)} // contrast, offset, 1/count
		c := mat.NewSymDense(n, nil)
		for i := range n {
			local[2].SetSym(i, i, 1)
			for j := i; j < n; j++ {
				v := st.Output(0)[i*n+j]
				local[0].SetSym(i, j, v)
				local[1].SetSym(i, j, 1)
				c.SetSym(i, j, at.Contrast[k]*v+at.Offset[k]-1)
			}
			c.SetSym(i, i, c.At(i, i)+at.inverse[k])
		}
		for a := range free {
			by := mat.NewSymDense(n, nil)
			for i := range n {
				for j := i; j < n; j++ {
					by.SetSym(i, j, at.Contrast[k]*st.Output(1 + a)[i*n+j])
				}
			}
			local = append(local, by)
		}
		if all[k].H, all[k].Q, err = source.FrameScores(c, local, tensor.NewStream(s.Seed, drawCovariance, uint32(k))); err != nil {
			return 0, fmt.Errorf("angle %d: %w", k, err)
		}
	}
	size := 3*p.angles + len(free)
	sum := combined(all, size, func(angle int) (to []map[int]float64) {
		for part := range 3 {
			to = append(to, map[int]float64{3*angle + part: 1})
		}
		for a := range free {
			to = append(to, map[int]float64{3*p.angles + a: 1})
		}
		return to
	})
	inverse, err := pseudoInverse(sum.H)
	if err != nil {
		return 0, err
	}
	var left, cov mat.Dense
	left.Mul(inverse, sum.Q)
	cov.Mul(&left, inverse)
	ratio := 1.0
	for i := range size {
		if v := inverse.At(i, i); v > 0 && (i >= 3*p.angles || i%3 < 2) { // counts are of no interest
			ratio = max(ratio, cov.At(i, i)/v)
		}
	}
	return 1 / ratio, nil
}
