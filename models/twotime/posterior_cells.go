// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/xpcs/transport/noise"
	"github.com/euryale-dev/euryale/tensor"
)

// byCells is a likelihood of cells that is being made.
type byCells struct {
	d      *Data
	p      *Priors
	s      PosteriorSettings
	order  int // of the quadrature
	blocks *binned
	white  []whitened // of each angle
	free   []string   // parameters of the motion that adapt to the data
	// judging says that a verdict is made, for which the misfit of the cells is no noise.
	judging bool
	priored bool     // whether priors hold the parameters, so that a point is not at the minimum of the data
	forms   []shapes // of each angle
}

// whitened is the inverse of the triangle of the covariance of the cells, and what follows from it and the data.
type whitened struct {
	inverse  []float64 // (cells, cells)
	logDet   float64
	one, y   []float64 // inverse times 1 (of cells with pairs) and times the data
	noise    Noise
	freedom  float64 // degrees of freedom from which the number of speckles follows; 0 if it was given
	worst    float64 // error of the quadrature in standard deviations of a cell
	contrast float64
	offset   float64
}

// Orders of the quadrature over a cell, and the largest error in standard deviations of the cell's mean that is left as it is.
const (
	firstOrder, lastOrder = 4, 12
	quadratureLimit       = 0.05
)

// rounds is how often the covariance is simulated anew at the mode.
const rounds = 2

func (s *PosteriorSettings) tell(what string, done float64) {
	if s.Progress != nil {
		s.Progress(what, done)
	}
}

// prepareCells completes the settings and averages the data over the cells.
func prepareCells(d *Data, p *Priors, s PosteriorSettings) (*byCells, error) {
	n := len(d.Setup.Times)
	if err := s.Binning.defaults(n); err != nil {
		return nil, err
	}
	if s.Pixels == 0 {
		if s.Pixels = 8000; n > 200 {
			s.Pixels = 4000
		}
	}
	if len(d.Noise) != 0 && len(d.Noise) != len(d.C2) {
		return nil, fmt.Errorf("twotime: there are %d numbers of speckles for %s: give one for each, or none", len(d.Noise), errtext.Count(len(d.C2), "angle"))
	}
	b := &byCells{d: d, p: p, s: s, order: firstOrder, white: make([]whitened, len(d.C2)), forms: make([]shapes, len(d.C2))}
	b.blocks = newBinned(d, s.Binning, b.order)
	return b, nil
}

func newByCells(ctx context.Context, d *Data, p *Priors, s PosteriorSettings) (*Posterior, error) {
	b, err := prepareCells(d, p, s)
	if err != nil {
		return nil, err
	}
	s, b.free, b.priored = b.s, p.free(d.Setup.Names()), true
	for k := range d.C2 {
		b.white[k] = b.rough(k)
	}
	s.tell("looking for the mode", 0)
	post, err := b.posterior()
	if err != nil {
		return nil, err
	}
	mode, err := post.MAP(ctx, infer.MAPSettings{Jacobian: true, Seed: s.Seed, Starts: 8})
	if err != nil {
		return nil, err
	}
	if p.bySlope, err = slopes(post, p, mode.Unconstrained, s.Seed); err != nil {
		return nil, err
	}
	if len(p.bySlope) > 0 {
		if post, err = b.posterior(); err != nil {
			return nil, err
		}
		if mode, err = post.MAP(ctx, infer.MAPSettings{Jacobian: true, Seed: s.Seed, Starts: 8}); err != nil {
			return nil, err
		}
	}
	for round := range rounds {
		at, err := post.point(mode.Unconstrained)
		if err != nil {
			return nil, err
		}
		pixels := s.Pixels
		if round == 0 { // not at the mode yet
			pixels = max(pixels/4, 3*len(b.blocks.cells))
		}
		if err := b.simulate(ctx, at, pixels); err != nil {
			return nil, err
		}
		if post, err = b.posterior(); err != nil {
			return nil, err
		}
		if mode, err = post.MAP(ctx, infer.MAPSettings{Jacobian: true, Seed: s.Seed, Init: mode.Unconstrained}); err != nil {
			return nil, err
		}
	}
	post.Mode = mode
	return post, nil
}

// slopes returns the rates whose slope in time the data tell much better than the prior of its exponent: exponent and share of the offset then
// make up for each other along a ridge that is straight in slope and share. Where data tell little, the exponent is the better coordinate,
// because it can be anything where the share is near 1.
func slopes(post *Posterior, p *Priors, mode []float64, seed uint64) (map[string]bool, error) {
	normal, err := infer.Laplace(post, infer.LaplaceSettings{Init: mode, Seed: seed})
	if err != nil { // not a maximum by its curvature
		return nil, nil
	}
	found := map[string]bool{}
	names := post.data.Setup.Names()
	for k, name := range names {
		draws := normal.Draws("slope_" + name)
		if draws == nil {
			continue
		}
		power := p.Motion[names[k+1]]
		numbers, err := dist.Numbers(power)
		if err != nil {
			return nil, err
		}
		var parameters []float64
		for _, v := range numbers {
			parameters = append(parameters, v[0])
		}
		z, prior := tensor.NewStream(seed, drawPrior, uint32(k)), make([]float64, len(draws))
		for i := range prior {
			prior[i] = power.Rand(&z, parameters)
		}
		if spread(draws) < 0.1*spread(prior) {
			found[name] = true
		}
	}
	return found, nil
}

// spread is the range of the middle 90 %.
func spread(v []float64) float64 { return diag.Quantile(v, 0.95) - diag.Quantile(v, 0.05) }

// rough is a whitening by the scatter of neighbouring entries along the diagonal, taken as independent with three times the variance.
func (b *byCells) rough(angle int) whitened {
	n := len(b.d.Setup.Times)
	var steps []float64
	c2 := b.d.C2[angle]
	for i := range n - 1 {
		for j := i + 1; j < n-1; j++ {
			if b.d.weight(angle, i, j) > 0 && b.d.weight(angle, i+1, j+1) > 0 {
				steps = append(steps, math.Abs(c2[i*n+j]-c2[(i+1)*n+j+1]))
			}
		}
	}
	sd := 1e-3
	if len(steps) > 0 {
		slices.Sort(steps)
		sd = max(1e-12, steps[len(steps)/2]/(0.6745*math.Sqrt2))
	}
	k := len(b.blocks.cells)
	inverse := make([]float64, k*k)
	for c, pairs := range b.blocks.count[angle] {
		inverse[c*k+c] = math.Sqrt(float64(pairs)/3) / sd
	}
	return b.whiten(angle, whitened{inverse: inverse})
}

// whiten completes a whitening.
func (b *byCells) whiten(angle int, w whitened) whitened {
	k := len(b.blocks.cells)
	w.one, w.y = make([]float64, k), make([]float64, k)
	for i := range k {
		for j, v := range w.inverse[i*k : i*k+i+1] {
			w.one[i] += v
			w.y[i] += v * b.blocks.mean[angle][j]
		}
	}
	return w
}

// means returns the mean of g over each cell, (angles, cells).
func (b *byCells) means(theta []*ad.Node) *ad.Node {
	angles, k := len(b.d.C2), len(b.blocks.cells)
	g := ad.Broadcast(b.d.Setup.OfAngles(theta, b.blocks.pairs(angles)), angles, k*b.blocks.nodes)
	weights := ad.Const(b.blocks.weights, len(b.blocks.weights)/(k*b.blocks.nodes), k*b.blocks.nodes)
	return ad.SumAxes(ad.Reshape(ad.Mul(g, weights), angles, k, b.blocks.nodes), 2)
}

// posterior is the posterior with the whitening of now.
func (b *byCells) posterior() (*Posterior, error) {
	m, theta, err := motion(b.d, b.p)
	if err != nil {
		return nil, err
	}
	angles, k := len(b.d.C2), len(b.blocks.cells)
	mean := b.means(theta)
	var s products
	var inverse, one, y []float64
	constant := 0.0
	for _, w := range b.white {
		inverse, one, y = append(inverse, w.inverse...), append(one, w.one...), append(y, w.y...)
		ones, ys, yy := 0., 0., 0.
		for i, v := range w.one {
			ones, ys, yy = ones+v*v, ys+v*w.y[i], yy+w.y[i]*w.y[i]
		}
		s.ones, s.y, s.yy = append(s.ones, ones), append(s.y, ys), append(s.yy, yy)
		constant -= w.logDet
	}
	white := ad.Reshape(ad.MatMul(ad.Const(inverse, angles, k, k), ad.Reshape(mean, angles, k, 1)), angles, k)
	s.gg = ad.SumAxes(ad.Square(white), 1)
	s.g, s.gy = ad.SumAxes(ad.Mul(white, ad.Const(one, angles, k)), 1), ad.SumAxes(ad.Mul(white, ad.Const(y, angles, k)), 1)
	m.AddLogProb("covariance", ad.Scalar(constant))
	logProb, conditional := s.integrated(b.p)
	post, err := finished(m, logProb, conditional, b.d, b.p, ByCells, b.s.Backend)
	if err != nil {
		return nil, err
	}
	post.cells = b
	return post, nil
}

// simulate finds the covariance of the cells at a point, by so many pixels.
func (b *byCells) simulate(ctx context.Context, at Point, pixels int) error {
	threads := max(1, b.s.Threads)
	var lock sync.Mutex
	done := 0
	hands := make([]*noise.Fields, threads)
	n, k := len(b.d.Setup.Times), len(b.blocks.cells)
	err := inParallel(ctx, threads, len(b.d.C2), func(hand, angle int) error {
		if hands[hand] == nil {
			f, err := noise.NewFields(b.d.Setup)
			if err != nil {
				return err
			}
			hands[hand] = f
		}
		g, parts, err := hands[hand].At(at.Theta, b.d.Setup.Angles[angle])
		if err != nil {
			return err
		}
		found, err := b.d.noise(angle, g, at.Contrast[angle], at.Offset[angle])
		if err != nil {
			return err
		}
		source, err := noise.NewSpeckles(parts, n, at.Contrast[angle], at.Offset[angle], found.InverseCount)
		if err != nil {
			return err
		}
		c := make([]float64, n*n)
		for i, v := range g {
			c[i] = at.Contrast[angle]*v + at.Offset[angle] - 1
		}
		cov := source.CellCovariance(b.blocks.cells, c, b.d.used(angle), pixels, tensor.NewStream(b.s.Seed, drawCovariance, uint32(angle)))
		w := whitened{noise: found, contrast: at.Contrast[angle], offset: at.Offset[angle]}
		if w.inverse, w.logDet, err = whitener(cov, b.blocks.count[angle], found.Speckles, pixels); err != nil {
			return err
		}
		for c, of := range b.blocks.cells {
			if b.blocks.count[angle][c] == 0 {
				continue
			}
			exact := 0.0
			of.Pairs(n, b.d.used(angle), func(i, j int) { exact += g[i*n+j] })
			exact /= float64(b.blocks.count[angle][c])
			w.worst = max(w.worst, math.Abs(at.Contrast[angle]*(exact-b.blocks.stand(angle, c, n, g)))/math.Sqrt(cov[c*k+c]/found.Speckles))
		}
		b.white[angle], b.forms[angle] = w, b.shapes(angle, g)
		lock.Lock()
		defer lock.Unlock()
		done++
		b.s.tell("simulating what makes the correlations scatter", float64(done)/float64(len(b.d.C2)))
		return nil
	})
	if err != nil {
		return err
	}
	worst := 0.0
	for _, w := range b.white {
		worst = max(worst, w.worst)
	}
	if worst > quadratureLimit && b.order < lastOrder {
		b.order += 4
		b.blocks = newBinned(b.d, b.s.Binning, b.order)
	}
	if b.d.Noise == nil && !b.judging {
		if err := b.speckles(at); err != nil {
			return err
		}
	}
	for angle := range b.white {
		b.white[angle] = b.whiten(angle, b.white[angle])
	}
	return nil
}
