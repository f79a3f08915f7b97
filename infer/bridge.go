// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

const purposeBridge uint32 = 192

// BridgeEvidence estimates the log of the integral of the density from the draws of any sampler: a normal distribution is fitted to the first half of each
// chain, and compared with the second half at draws of both. Its error tells what the numbers of draws leave; modes that the draws lack are lacking
// here too. Where the posterior is far from normal, the error is large; SMC does not need that.
//
// References: Meng and Wong, Statistica Sinica 6 (1996) 831; Gronau et al., doi:10.1016/j.jmp.2017.09.005; Frühwirth-Schnatter,
// doi:10.1111/j.1368-423X.2004.00125.x (error).
func (f *Fit) BridgeEvidence() (_ *Evidence, err error) {
	defer given.Caught(&err)
	b := &bridge{fit: f, target: declaredOf(f.chains[0].target).Clone()}
	if err := b.fitNormal(); err != nil {
		return nil, err
	}
	if err := b.evaluate(); err != nil {
		return nil, err
	}
	return b.solve()
}

// bridge holds the logarithms of the ratio of the density to that of the normal distribution.
type bridge struct {
	fit    *Fit
	target Target
	mean   []float64
	lower  mat.TriDense // Cholesky factor of the covariance
	logDet float64      // of the covariance
	// draws are the ratios at draws of each chain, and others those at draws of the normal distribution.
	draws  [][]float64
	others []float64
}

func (b *bridge) fitNormal() error {
	n := b.target.Dim()
	var rows []float64
	count := 0
	for c := range b.fit.chains {
		for k := range b.fit.n[c] / 2 {
			rows, count = append(rows, b.fit.Unconstrained(c, k)...), count+1
		}
	}
	if n == 0 || count < 4*n || count < 50 {
		return fmt.Errorf("infer: the evidence of %d parameters needs more than the %d draws in the first halves of the chains: take at least %d draws in all", n, count, max(100, 8*n))
	}
	x := mat.NewDense(count, n, rows)
	b.mean = make([]float64, n)
	for i := range n {
		b.mean[i] = stat.Mean(mat.Col(nil, i, x), nil)
	}
	var cov mat.SymDense
	stat.CovarianceMatrix(&cov, x, nil)
	var chol mat.Cholesky
	if !chol.Factorize(&cov) {
		return fmt.Errorf("infer: the covariance of the draws of %d parameters is singular, so bridge sampling cannot begin: sample by SMC, which finds the evidence too", n)
	}
	chol.LTo(&b.lower)
	b.logDet = chol.LogDet()
	return nil
}

// ratio is the log of the density over that of the normal distribution.
func (b *bridge) ratio(q, g, z []float64) (float64, error) {
	lp, err := b.target.LogProbGrad(q, g)
	if err != nil && !hamiltonian.Recoverable(err) {
		return 0, err
	}
	if err != nil || math.IsNaN(lp) {
		return math.Inf(-1), nil
	}
	return lp + float64(len(q))*halfLog2Pi + b.logDet/2 + linalg.FastDot(z, z)/2, nil
}

func (b *bridge) evaluate() error {
	n, count := len(b.mean), 0
	q, g, z := make([]float64, n), make([]float64, n), make([]float64, n)
	white := mat.NewVecDense(n, z)
	for c := range b.fit.chains {
		var ratios []float64
		for k := b.fit.n[c] / 2; k < b.fit.n[c]; k++ {
			copy(q, b.fit.Unconstrained(c, k))
			linalg.AddScaled(q, -1, b.mean)
			if err := white.SolveVec(&b.lower, mat.NewVecDense(n, q)); err != nil {
				return err
			}
			r, err := b.ratio(b.fit.Unconstrained(c, k), g, z)
			if err != nil {
				return err
			}
			ratios = append(ratios, r)
		}
		b.draws, count = append(b.draws, ratios), count+len(ratios)
	}
	src := tensor.NewStream(b.fit.cfg.Seed, purposeBridge, 0)
	to := mat.NewVecDense(n, q)
	for range count {
		src.NormalTo(z)
		to.MulVec(&b.lower, white)
		linalg.AddScaled(q, 1, b.mean)
		r, err := b.ratio(q, g, z)
		if err != nil {
			return err
		}
		b.others = append(b.others, r)
	}
	return nil
}

// solve iterates the optimal bridge.
func (b *bridge) solve() (*Evidence, error) {
	all := slices.Concat(b.draws...)
	shift := slices.Sorted(slices.Values(all))[len(all)/2]
	shifted := func(x []float64) []float64 {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = math.Exp(v - shift)
		}
		return out
	}
	size := float64(len(all))
	effective := diag.ESSMean(b.draws)
	if !(effective > 0) || effective > size {
		effective = size
	}
	s1 := effective / (effective + size)
	s2 := 1 - s1
	p, g := shifted(all), shifted(b.others)
	r := 1.0
	for range 1000 {
		up, down := 0.0, 0.0
		for _, l := range g {
			up += optimalBridge(l, s1, s2*r)
		}
		for _, l := range p {
			down += 1 / (s1*l + s2*r)
		}
		last := r
		if r = up / down; math.Abs(math.Log(r/last)) < 1e-10 {
			break
		}
	}
	if !(r > 0) || math.IsInf(r, 1) {
		return nil, fmt.Errorf("infer: bridge sampling found no evidence, since a normal distribution is too far from the draws: sample by SMC")
	}
	// Variances of the terms of numerator and denominator, in units of their means.
	up, down := make([]float64, len(g)), make([][]float64, len(b.draws))
	for i, l := range g {
		up[i] = optimalBridge(l, s1, s2*r)
	}
	k := 0
	for c, x := range b.draws {
		for range x {
			down[c] = append(down[c], 1/(s1*p[k]+s2*r))
			k++
		}
	}
	flat := slices.Concat(down...)
	relative := func(x []float64) float64 { m, v := stat.MeanVariance(x, nil); return v / (m * m) }
	n1 := diag.ESSMean(down)
	if !(n1 > 0) || n1 > size {
		n1 = size
	}
	e := &Evidence{Log: math.Log(r) + shift, Error: math.Sqrt(relative(up)/float64(len(up)) + relative(flat)/n1), From: "the draws, by bridge sampling", Unnormalised: unnormalised(b.target)}
	return e, nil
}

// optimalBridge is l/(a l + b), also where l is infinite.
func optimalBridge(l, a, b float64) float64 {
	if math.IsInf(l, 1) {
		return 1 / a
	}
	return l / (a*l + b)
}
