// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/parallel"
)

// Draws of a posterior that knows a block say little about one that does not where the block weighs much, as blocks that a model misses do. The
// posterior without the block is close to the normal distribution that follows from the draws, less the information of the block and what it
// pulled; draws from there predict the block, weighted by how far that posterior is from normal.

const (
	// UsualRefits is the largest number of blocks that the command looks at again; each takes refitDraws expectations, and a few times as
	// many where the normal distribution is far off.
	UsualRefits = 40
	refitDraws  = 200
	refitRounds = 3
	// wider is how much wider than the posterior the distribution is from which its draws come.
	wider = 1.1
)

// refitter predicts blocks from posteriors without them.
type refitter struct {
	t           *Task
	post        *infer.Posterior
	good        float64 // Pareto shape up to which weights are trusted
	block       []int   // of each log-likelihood of the posterior
	column      []int   // of each parameter among those of the posterior
	center      []float64
	information *mat.SymDense // inverse of the covariance of the draws
	score       [][]float64   // of each block, in the coordinates of the sampler
	known       []*mat.SymDense
}

// refit replaces the estimates of the worst blocks whose importance weights cannot be trusted, of most of them at most, and lists which it
// could.
func (t *Task) refit(fit *infer.Fit, e diag.ELPD, most int) (_ diag.ELPD, refitted []int, err error) {
	bad := e.Bad()
	slices.SortStableFunc(bad, func(a, b int) int { return compare(-e.Points[a].K, -e.Points[b].K) })
	if bad = bad[:min(len(bad), most)]; len(bad) == 0 {
		return e, nil, nil
	}
	r, err := t.newRefitter(fit, e)
	if err != nil || r == nil {
		return e, nil, err
	}
	points, errs := make([]*diag.PointELPD, len(bad)), make([]error, len(bad))
	parallel.Do(runtime.GOMAXPROCS(0), len(bad), func(_, k int) {
		points[k], errs[k] = r.predict(bad[k], e.Points[bad[k]].LPPD)
	})
	better := map[int]diag.PointELPD{}
	for k, i := range bad {
		if errs[k] != nil {
			return e, nil, errs[k]
		}
		if points[k] != nil {
			better[i] = *points[k]
		}
	}
	return e.With(better, diag.Posterior), slices.Sorted(maps.Keys(better)), nil
}

// newRefitter gathers what all blocks need; it is nil if the draws are too few for their covariance.
func (t *Task) newRefitter(fit *infer.Fit, e diag.ELPD) (*refitter, error) {
	own := *t // building the posterior replaces nodes
	own.mean, own.Params = nil, slices.Clone(t.Params)
	post, err := own.Posterior()
	if err != nil {
		return nil, err
	}
	r := &refitter{t: &own, post: post, good: min(e.GoodK, diag.GoodK(refitDraws))}
	n := post.Dim()
	var rows []float64
	for c := range fit.Chains() {
		for k := range fit.Len(c) {
			rows = append(rows, fit.Unconstrained(c, k)...)
		}
	}
	if n != len(t.Params) || len(rows) < 4*n*n {
		return nil, nil
	}
	var cov mat.SymDense
	draws := mat.NewDense(len(rows)/n, n, rows)
	stat.CovarianceMatrix(&cov, draws, nil)
	for k := range n {
		r.center = append(r.center, stat.Mean(mat.Col(nil, k, draws), nil))
	}
	var chol mat.Cholesky
	r.information = mat.NewSymDense(n, nil)
	if !chol.Factorize(&cov) || chol.InverseTo(r.information) != nil {
		return nil, nil
	}
	for _, p := range t.Params {
		r.column = append(r.column, slices.Index(post.Names(), p.Name))
	}
	return r, r.gather(len(e.Points))
}

// gather finds the blocks of all numbers, and their scores and information at the mean of the draws.
func (r *refitter) gather(blocks int) error {
	out := make([]float64, r.post.Len())
	if err := r.post.Write(r.center, out); err != nil {
		return err
	}
	n := len(r.column)
	x, rate := make([]float64, n), make([]float64, n)
	for i, c := range r.column {
		x[i] = out[c]
		rate[i] = r.t.rate(i, x[i])
	}
	layout := r.t.blocks()
	at := *r.t
	at.mean = nil
	if err := at.prepare(); err != nil {
		return err
	}
	scales := at.scalesOf(&Solution{Names: at.Names(), X: x})
	s, err := at.sensitivity(x, scales, len(at.Params))
	if err != nil {
		return err
	}
	r.score, r.known = make([][]float64, blocks), make([]*mat.SymDense, blocks)
	for b := range r.score {
		r.score[b], r.known[b] = make([]float64, n), mat.NewSymDense(n, nil)
	}
	first, number := 0, 0
	row := mat.NewVecDense(n, nil)
	for _, p := range at.joined.parts {
		together := p.together(layout)
		for _, b := range together {
			if p.noise.law != nil {
				row.Zero()
				for a, ia := range s.index {
					d := s.j[a*s.m+number] / rate[ia]
					row.SetVec(ia, d)
					r.score[first+b][ia] += d * s.weight[number] * s.residual[number]
				}
				r.known[first+b].SymRankOne(r.known[first+b], s.weight[number], row)
				r.block = append(r.block, first+b)
			}
			number++
		}
		if p.noise.law != nil {
			first += slices.Max(together) + 1
		}
	}
	return nil
}

// predict estimates how a block is predicted without it; nil if that cannot be done.
func (r *refitter) predict(block int, lppd float64) (*diag.PointELPD, error) {
	n := len(r.center)
	post := r.post.Clone().(*infer.Posterior)
	var without mat.SymDense
	without.AddSym(r.information, scaledSym(-1, r.known[block]))
	var chol mat.Cholesky
	if !chol.Factorize(&without) {
		return nil, nil
	}
	shift, at := mat.NewVecDense(n, nil), slices.Clone(r.center)
	if chol.SolveVecTo(shift, mat.NewVecDense(n, r.score[block])) != nil {
		return nil, nil
	}
	for i := range at {
		at[i] -= shift.AtVec(i)
	}
	var upper mat.TriDense
	chol.UTo(&upper)
	random := rand.New(rand.NewPCG(uint64(block), 0x626c6f636b))
	for range refitRounds {
		d, err := r.weigh(post, block, at, &upper, random)
		if err != nil || d == nil {
			return nil, err
		}
		if d.k <= r.good {
			p := diag.WeightedPoint(d.weights, d.ll, lppd, d.k)
			return &p, nil
		}
		at = d.mean
	}
	return nil, nil
}

// weighted are draws with weights that make them those of the posterior without a block.
type weighted struct {
	weights, ll []float64 // logarithms, and log-likelihoods of the block
	k           float64
	mean        []float64
}

// weigh draws from a normal distribution about a place, with the inverse covariance whose root is upper; nil if no draw is possible.
func (r *refitter) weigh(post *infer.Posterior, block int, at []float64, upper *mat.TriDense, random *rand.Rand) (*weighted, error) {
	n := len(at)
	d := &weighted{ll: make([]float64, refitDraws), mean: make([]float64, n)}
	ratios, places := make([]float64, refitDraws), make([][]float64, refitDraws)
	z, q := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for s := range ratios {
		square := 0.0
		for i := range n {
			v := random.NormFloat64()
			z.SetVec(i, wider*v)
			square += v * v
		}
		if err := q.SolveVec(upper, z); err != nil {
			return nil, nil
		}
		place := make([]float64, n)
		for i := range place {
			place[i] = at[i] + q.AtVec(i)
		}
		rest, ll, err := r.density(post, block, place)
		if err != nil {
			return nil, err
		}
		ratios[s], d.ll[s], places[s] = rest+square/2, ll, place
	}
	if math.IsInf(slices.Max(ratios), -1) {
		return nil, nil
	}
	d.weights, d.k = diag.PSIS(ratios, diag.Posterior.TailLength(refitDraws, 1))
	for s, w := range d.weights {
		for i, v := range places[s] {
			d.mean[i] += math.Exp(w) * v
		}
	}
	return d, nil
}

// density returns the log density without a block at a place, up to a constant, and the log-likelihood of the block; minus infinity where
// there is none.
func (r *refitter) density(post *infer.Posterior, block int, q []float64) (rest, ll float64, err error) {
	out := make([]float64, post.Len())
	if err := post.Write(q, out); err != nil {
		return math.Inf(-1), 0, nil
	}
	all, err := post.LogLik(q)
	if err != nil {
		return math.Inf(-1), 0, nil
	}
	for i, v := range all {
		if r.block[i] == block {
			ll += v
		} else {
			rest += v
		}
	}
	for i := range r.t.Params {
		p := &r.t.Params[i]
		x := out[r.column[i]]
		rest += p.logPrior(x) - math.Log(p.rate(x))
	}
	if math.IsNaN(rest) || math.IsNaN(ll) || math.IsInf(ll, 0) {
		return math.Inf(-1), 0, nil
	}
	return rest, ll, nil
}

func scaledSym(f float64, a *mat.SymDense) *mat.SymDense {
	var out mat.SymDense
	out.ScaleSym(f, a)
	return &out
}
