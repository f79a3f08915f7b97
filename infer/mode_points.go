// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/stat"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// The search for starts begins near 0 in unconstrained space, from where a climb does not find a mode that is narrow or far. After the
// run, the log density is therefore evaluated at many points of the prior, and climbs start from those that no known mode explains.
const (
	// modePoints is the number of points from the prior, and modeEffort that of the evaluations of climbs from them, each as a part of
	// the gradients of the run. Points are evaluated as many at once as chains, climbs one by one.
	modePoints, modeEffort = 0.025, 0.02
	// modeDimension is the largest number of parameters in which points from the prior come near narrow modes.
	modeDimension = 8
	// fewestPoints is the number of points per parameter from which the search is worth its while, and mostPoints the number of points
	// that suffices.
	fewestPoints, mostPoints = 32, 4096
	// modeStarts is the number of draws from the prior from which climbs start where there are more parameters or fewer points. What
	// the points would have cost is theirs.
	modeStarts = 8
	// modeFar is the number of climbs of which no prior says where they begin.
	modeFar = 30
	// modeDraws is the number of draws from the prior that say where its points lie.
	modeDraws = 256
	// mostCandidates bounds the points that are ordered for climbs.
	mostCandidates = 1024
	// modeExplained is the relative error of the gradient that the second derivatives of a mode say, up to which the mode explains a
	// point.
	modeExplained = 0.5
	// purposeModes is the random stream of the draws.
	purposeModes uint32 = 171
)

// modeWidths say how far such climbs begin, in turn: about 0, as a multiple of the distances at which chains start, or about the draws, as a multiple of their
// standard deviations.
var modeWidths = []struct{ about0, ofDraws float64 }{{5, 0}, {50, 0}, {0, 10}, {500, 0}, {0, 100}}

// priorPointer is a target that can draw unconstrained points from its prior. Where a parameter has no prior, draw i has its value at
// posterior(i), an unconstrained draw from the posterior.
type priorPointer interface {
	priorPoints(n int, seed uint64, posterior func(i int) []float64) ([][]float64, error)
}

// modePoint is a point of the prior.
type modePoint struct {
	// cube is the place in the unit cube, over which the points are spread evenly, q that in unconstrained space, and g the gradient.
	cube, q, g []float64
	lp         float64
	// apart is the squared distance in the cube to the nearest higher point.
	apart float64
}

// tryFromPrior climbs from points of the prior, or of a wide distribution where there is no prior to draw from: from those of many that no known mode
// explains, or from a few where many are not enough.
func (m *modeFinder) tryFromPrior() {
	draw, starts, by := m.pointsFromAfar, modeFar, "a search from afar"
	if p, ok := m.target.(priorPointer); ok {
		if one, err := p.priorPoints(modeStarts, m.fit.cfg.Seed, m.fit.thinned(modeStarts)); err == nil && len(one) > 0 {
			draw, starts, by = func(n int) [][]float64 {
				points, _ := p.priorPoints(n, m.fit.cfg.Seed, m.fit.thinned(n))
				return points
			}, modeStarts, "a search from the prior"
		}
	}
	warmup, sampling := m.fit.Gradients()
	gradients := float64(warmup + sampling)
	n := min(int(modePoints*gradients), mostPoints)
	if m.target.Dim() > modeDimension || n < fewestPoints*m.target.Dim() {
		m.limit = m.calls + int((modePoints+modeEffort)*gradients)
		for _, q := range draw(starts) {
			if m.tryFrom(q, by); m.calls >= m.limit {
				return
			}
		}
		return
	}
	draws := draw(modeDraws)
	if len(draws) < modeDraws/2 {
		return
	}
	points := m.evaluated(spreadAs(draws, n, m.fit.cfg.Seed))
	m.limit = m.calls + int(modeEffort*gradients)
	for _, x := range m.candidates(points) {
		if m.explains(x) {
			continue
		}
		if m.tryFrom(x.q, by); m.calls >= m.limit {
			return
		}
	}
}

// pointsFromAfar returns n places about 0 and about the draws that are spread more and more widely. Where masses of modes are rough, since second derivatives
// are too many, there are modeStarts places about 0, or slopes far away would be taken for modes.
func (m *modeFinder) pointsFromAfar(n int) [][]float64 {
	src, widths := tensor.NewStream(m.fit.cfg.Seed, purposeModes, 0), modeWidths
	if m.target.Dim() > modeHessian {
		n, widths = modeStarts, modeWidths[:1]
	}
	centre, spread := m.placeOfDraws()
	points := make([][]float64, n)
	for k := range points {
		far, q := widths[k%len(widths)], make([]float64, len(centre))
		for i := range q {
			if q[i] = far.about0 * m.fit.cfg.InitRadius * (2*src.Float64() - 1); far.ofDraws > 0 {
				q[i] = centre[i] + far.ofDraws*spread[i]*(2*src.Float64()-1)
			}
		}
		points[k] = q
	}
	return points
}

// placeOfDraws returns means and standard deviations of the parameters of the target.
func (m *modeFinder) placeOfDraws() (centre, spread []float64) {
	n := m.target.Dim()
	centre, spread = make([]float64, n), make([]float64, n)
	draw := m.fit.thinned(modeDraws)
	x := make([][]float64, n)
	for k := range modeDraws {
		for i, v := range m.sought(draw(k)) {
			x[i] = append(x[i], v)
		}
	}
	for i := range x {
		centre[i], spread[i] = stat.MeanStdDev(x[i], nil)
	}
	return centre, spread
}

// thinned returns n unconstrained draws, evenly from all chains.
func (f *Fit) thinned(n int) func(i int) []float64 {
	return func(i int) []float64 {
		k := i % len(f.chains)
		return f.Unconstrained(k, i*(f.n[k]-1)/n)
	}
}

// spreadAs returns n points that are spread evenly, in each coordinate with the quantiles of the draws.
func spreadAs(draws [][]float64, n int, seed uint64) []modePoint {
	dim := len(draws[0])
	cube, err := optim.Sobol.Points(n, dim, seed)
	if err != nil {
		return nil
	}
	points, sorted := make([]modePoint, n), make([]float64, len(draws))
	q := make([]float64, n*dim)
	for i := range points {
		points[i] = modePoint{cube: cube[i*dim : (i+1)*dim], q: q[i*dim : (i+1)*dim]}
	}
	for d := range dim {
		for k, x := range draws {
			sorted[k] = x[d]
		}
		slices.Sort(sorted)
		for i := range points {
			at := points[i].cube[d] * float64(len(sorted)-1)
			k := min(int(at), len(sorted)-2)
			points[i].q[d] = sorted[k] + (at-float64(k))*(sorted[k+1]-sorted[k])
		}
	}
	return points
}

// evaluated returns the points at which the log density and its gradient are finite, with these.
func (m *modeFinder) evaluated(points []modePoint) []modePoint {
	const block = 64
	dim := m.target.Dim()
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(m.fit.cfg.Parallel, m.fit.cfg.Chains, (len(points)+block-1)/block) {
		workers.Go(func() {
			defer func() { _ = recover() }() // of the target: points that it did not evaluate are left out
			target := m.target.Clone()
			for from := int(next.Add(block)) - block; from < len(points); from = int(next.Add(block)) - block {
				for i := from; i < min(from+block, len(points)); i++ {
					g := make([]float64, dim)
					if lp, err := target.LogProbGrad(points[i].q, g); err == nil && linalg.Finite(lp) && linalg.AllFinite(g) {
						points[i].lp, points[i].g = lp, g
					}
				}
			}
		})
	}
	workers.Wait()
	return slices.DeleteFunc(points, func(x modePoint) bool { return x.g == nil })
}

// candidates returns the points that no known mode explains, best of each neighbourhood first: ordered by how far the nearest higher
// point is. Of very many the highest are taken.
//
// Reference: Rodriguez and Laio 2014, doi 10.1126/science.1242072.
func (m *modeFinder) candidates(points []modePoint) (out []*modePoint) {
	slices.SortFunc(points, func(a, b modePoint) int { return cmp.Compare(b.lp, a.lp) })
	for i := range points {
		x := &points[i]
		if m.explains(x) {
			continue
		}
		x.apart = math.Inf(1)
		for j := range i {
			x.apart = min(x.apart, squaredDistance(x.cube, points[j].cube))
		}
		if out = append(out, x); len(out) == mostCandidates {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b *modePoint) int { return cmp.Compare(b.apart, a.apart) })
	return out
}

// explains reports whether a known mode says what the density at a point is.
func (m *modeFinder) explains(x *modePoint) bool {
	by := func(s summit) bool { return s.explains(x) }
	return slices.ContainsFunc(m.known, by) || slices.ContainsFunc(m.minor, by)
}

func squaredDistance(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += (x - b[i]) * (x - b[i])
	}
	return sum
}

// explains reports whether the log density at a point and its gradient are about what the second derivatives at the mode say. The error of
// the gradient is relative to the gradient that they say, where both are made round by these derivatives:
//
//	|L^-1 g - L^T (mode - q)| / |L^T (mode - q)|
//
// Of a gradient that is right by chance, as in one of many other modes, the height tells.
func (s *summit) explains(x *modePoint) bool {
	n := len(x.q)
	if s.root == nil {
		return false
	}
	wrong, far := 0.0, 0.0
	var up [modeDimension]float64 // L^-1 g
	for j := range n {
		v, u := x.g[j], 0.0
		for k := range j {
			v -= s.root[j*n+k] * up[k]
		}
		up[j] = v / s.root[j*n+j]
		for i := j; i < n; i++ {
			u += s.root[i*n+j] * (s.q[i] - x.q[i])
		}
		wrong += (up[j] - u) * (up[j] - u)
		far += u * u
	}
	return wrong <= modeExplained*modeExplained*far && s.expects(x.lp, far)
}
