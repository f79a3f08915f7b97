// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/xpcs/transport/noise"
	"github.com/euryale-dev/euryale/tensor"
)

// scorer finds the scores of a fit to pairs: what each pixel contributes to the derivatives of the sum of squares by coefficients of contrasts
// and offsets, and by the free parameters of the motion.
type scorer struct {
	d       *Data
	point   Point
	cells   *byCells
	free    []string
	basis   [][]float64
	linear  int // coefficients of contrasts, and of offsets
	size    int // of all parameters
	threads int
	states  []*ad.State // of each thread: g and its derivatives
	angles  []scored
}

// scored holds the scores of one pixel of an angle by the parameters of the angle: contrast, offset and those of the motion.
type scored struct {
	Scores
	to      []map[int]float64 // what the parameters of the angle are of all parameters
	noise   Noise
	squares float64 // weighted, of the residuals
	size    float64 // sum of C^2 times the mean weight
}

// scorer returns the scores of a fit of these data with these settings.
func (f *Fit) scorer(ctx context.Context, d *Data, s Settings) (*scorer, error) {
	basis, err := s.Scaling.basis(d.Setup.Angles)
	if err != nil {
		return nil, err
	}
	linear := 0
	if basis != nil {
		linear = len(basis[0])
	}
	size := len(f.X)
	free := f.Names[min(2*linear, size):]
	if size != 2*linear+len(free) || len(f.Contrast) != len(d.C2) {
		return nil, fmt.Errorf("twotime: the fit of %s and %d angles does not belong to data of %s with scaling %q: pass the data and settings of this fit", errtext.Count(size, "parameter"), len(f.Contrast), errtext.Count(len(d.C2), "angle"), s.Scaling)
	}
	return newScorer(ctx, d, Point{Theta: f.Theta, Contrast: f.Contrast, Offset: f.Offset}, free, s.Scaling, s.Threads)
}

// newScorer returns the scores at a point.
func newScorer(ctx context.Context, d *Data, at Point, free []string, scaling Scaling, threads int) (*scorer, error) {
	s := &scorer{d: d, point: at, free: free, threads: max(1, threads), angles: make([]scored, len(d.C2))}
	var err error
	if s.basis, err = scaling.basis(d.Setup.Angles); err != nil {
		return nil, err
	}
	if s.basis != nil {
		s.linear = len(s.basis[0])
	}
	s.size = 2*s.linear + len(free)
	program, err := derivatives(d.Setup, free)
	if err != nil {
		return nil, err
	}
	b, err := prepareCells(d, &Priors{}, PosteriorSettings{Threads: s.threads})
	if err != nil {
		return nil, err
	}
	s.cells, b.free = b, free
	if err := b.simulate(ctx, at, max(scorePixels(len(d.C2)), 4*len(b.blocks.cells))); err != nil {
		return nil, err
	}
	fields := make([]*noise.Fields, s.threads)
	s.states = make([]*ad.State, s.threads)
	err = inParallel(ctx, s.threads, len(d.C2), func(hand, angle int) (err error) {
		if fields[hand] == nil {
			if fields[hand], err = noise.NewFields(d.Setup); err != nil {
				return err
			}
			s.states[hand] = program.NewState()
		}
		g, local, err := s.local(hand, angle, at)
		if err != nil {
			return err
		}
		of := &s.angles[angle]
		of.noise, of.to = b.white[angle].noise, s.combinations(angle)
		n := len(d.Setup.Times)
		c, weights, weight := make([]float64, n*n), s.weights(angle), 0.
		for i := range n {
			for j := range n {
				k := i*n + j
				c[k] = at.Contrast[angle]*g[k] + at.Offset[angle] - 1
				of.size += c[k] * c[k]
				if w := weights[k]; w > 0 && i < j {
					r := d.C2[angle][k] - 1 - c[k]
					of.squares += w * r * r
					weight += w
					of.Entries++
				}
			}
			self := c[i*n+i] + of.noise.InverseCount
			of.size += self*self - c[i*n+i]*c[i*n+i]
		}
		of.size *= weight / float64(of.Entries)
		_, parts, err := fields[hand].At(at.Theta, d.Setup.Angles[angle])
		if err != nil {
			return err
		}
		source, err := noise.NewSpeckles(parts, n, at.Contrast[angle], at.Offset[angle], of.noise.InverseCount)
		if err != nil {
			return err
		}
		simulated := source.SimulatedScores(c, weights, local, scorePixels(len(d.C2)), tensor.NewStream(0, drawScores, uint32(angle)))
		of.H, of.Q, of.Scatter = simulated.H, simulated.Q, simulated.Scatter
		return nil
	})
	if err == nil && d.Noise == nil {
		s.pool(b)
	}
	return s, err
}

// pool takes the scatter of single entries, too, for the numbers of speckles that the cells told, by degrees of freedom: with much shot noise it
// tells more. The expectation of the weighted squares of an angle is
//
//	(scatter - 2 tr(H^-1 Q))/P + tr(H H_all^-1 Q_all H_all^-1),  Q_all = sum Q/P
//
// because the fit follows the noise.
func (s *scorer) pool(b *byCells) {
	sum := s.together()
	inverse, err := pseudoInverse(sum.H)
	if err != nil { // the data tell nothing
		return
	}
	var left, cov mat.Dense
	left.Mul(inverse, sum.Q)
	cov.Mul(&left, inverse)
	pooled := make([]float64, len(s.angles))
	for k, of := range s.angles {
		p := of.noise.Speckles
		expected := (of.Scatter-2*traceOf(inverse, of.Q, of.to))/p + traceOf(&cov, of.H, of.to)
		entries := math.Pow(expected*p/of.size, 2) // no more than their degrees of freedom
		cells := b.white[k].freedom
		pooled[k] = p * (cells + entries) / (cells + entries*of.squares/expected)
		if !(expected > 0) || !(pooled[k] > 0) {
			pooled[k] = p
		}
	}
	for k, p := range pooled {
		b.rescale(k, p/b.white[k].noise.Speckles)
		s.angles[k].noise = b.white[k].noise
	}
}

// squares returns the weighted sum of squares of all residuals.
func (s *scorer) squares() (sum float64) {
	for _, of := range s.angles {
		sum += of.squares
	}
	return sum
}

// traceOf is the trace of the product of a matrix of all parameters with one of the parameters of an angle.
func traceOf(m *mat.Dense, local *mat.SymDense, to []map[int]float64) (sum float64) {
	for a, left := range to {
		for b, right := range to {
			for i, u := range left {
				for j, v := range right {
					sum += u * v * m.At(i, j) * local.At(a, b)
				}
			}
		}
	}
	return sum
}

// scorePixels is the number of pixels that scores are simulated of at each of some angles, whose scores add up.
func scorePixels(angles int) int { return max(1024, 4096/angles) }

// weights returns the squares of the weights of all entries of an angle.
func (s *scorer) weights(angle int) []float64 {
	n := len(s.d.Setup.Times)
	out := make([]float64, n*n)
	for i := range n {
		for j := i + 1; j < n; j++ {
			w := s.d.weight(angle, i, j)
			out[i*n+j], out[j*n+i] = w*w, w*w
		}
	}
	return out
}

// local returns g of an angle at a point, and the derivatives of c2 by the parameters of the angle. They are valid until the next call with
// this hand.
func (s *scorer) local(hand, angle int, at Point) (g []float64, columns [][]float64, err error) {
	st := s.states[hand]
	for i, v := range noise.Turned(&s.d.Setup, at.Theta, s.d.Setup.Angles[angle]) {
		st.Input(i)[0] = v
	}
	if err := st.Run(); err != nil {
		return nil, nil, err
	}
	g = st.Output(0)
	if s.basis != nil {
		ones := make([]float64, len(g))
		for i := range ones {
			ones[i] = 1
		}
		columns = append(columns, g, ones)
	}
	for k := range s.free {
		column := make([]float64, len(g))
		for i, v := range st.Output(1 + k) {
			column[i] = at.Contrast[angle] * v
		}
		columns = append(columns, column)
	}
	return g, columns, nil
}

// noise returns that of each angle.
func (s *scorer) noise() (all []Noise) {
	for _, of := range s.angles {
		all = append(all, of.noise)
	}
	return all
}

// together adds the scores of all angles, each of as many pixels as it has speckles.
func (s *scorer) together() Scores {
	each := make([]Scores, len(s.angles))
	for k, of := range s.angles {
		each[k] = of.Scores
		each[k].Scatter /= of.noise.Speckles
		each[k].Q = mat.NewSymDense(of.Q.SymmetricDim(), nil)
		each[k].Q.ScaleSym(1/of.noise.Speckles, of.Q)
	}
	return combined(each, s.size, func(angle int) []map[int]float64 { return s.angles[angle].to })
}

// combinations says what the parameters of an angle are of all parameters.
func (s *scorer) combinations(angle int) (to []map[int]float64) {
	for part := range 2 {
		if s.basis == nil {
			break
		}
		of := map[int]float64{}
		for i, b := range s.basis[angle] {
			if b != 0 {
				of[part*s.linear+i] = b
			}
		}
		to = append(to, of)
	}
	for k := range s.free {
		to = append(to, map[int]float64{2*s.linear + k: 1})
	}
	return to
}
