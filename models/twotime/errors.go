// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/sim/xpcs/transport/noise"
	"github.com/euryale-dev/euryale/tensor"
)

// Scores holds the matrices from which the errors of a fit of pairs follow: H = J'WJ and Q = J'W V
// W J, with the derivatives J of the entries with respect to the parameters, their weights W and
// their covariance V, which includes the noise that entries with a common frame share.
type Scores struct {
	H, Q    *mat.SymDense
	Entries int
	Scatter float64 // sum of weights times variances
}

// Scores returns the Scores of an angle: c is C of the fitted model (frames, frames), and weights
// and derivatives with respect to the parameters are symmetric matrices of the same shape. Pairs
// that are not used, and the diagonal, have the weight 0. It takes a product of matrices of frames
// for each parameter: see noise.PairScores.
func (n Noise) Scores(frames int, c, weights []float64, derivatives [][]float64) Scores {
	s := Scores{}
	for i := range frames {
		for j := i + 1; j < frames; j++ {
			if w := weights[i*frames+j]; w > 0 {
				s.Entries++
				s.Scatter += w * (c[i*frames+i]*c[j*frames+j] + c[i*frames+j]*c[i*frames+j]) / n.Speckles
			}
		}
	}
	s.H, s.Q = noise.PairScores(frames, c, weights, derivatives)
	s.Q.ScaleSym(1/n.Speckles, s.Q)
	return s
}

// Sandwich returns the covariance H^-1 Q H^-1 of the parameters, and the number of independent
// entries that would determine them as well on average, m p/tr(H^-1 Q) for m entries with weights
// of 1 over their variances.
func (s Scores) Sandwich() (cov *mat.SymDense, effective float64, err error) {
	p := s.H.SymmetricDim()
	inverse, ok := inverted(s.H, p)
	if !ok {
		return nil, 0, fmt.Errorf("twotime: the data cannot tell all %d parameters apart: hold some fixed", p)
	}
	var left, both mat.Dense
	left.Mul(inverse, s.Q)
	both.Mul(&left, inverse)
	cov = mat.NewSymDense(p, nil)
	for i := range p {
		for j := i; j < p; j++ {
			cov.SetSym(i, j, (both.At(i, j)+both.At(j, i))/2)
		}
	}
	return cov, float64(p) * s.Scatter / mat.Trace(&left), nil
}

// SharedErrors holds the errors of a fit that allow for the noise shared by entries with a common
// frame.
type SharedErrors struct {
	SD, Cov   []float64 // standard deviations of Fit.X
	Effective float64   // number of independent entries that would determine the parameters as well
	Noise     []Noise   // noise of each angle, as given or estimated
}

// SharedErrors computes the errors of a fit of these data with these settings. It takes a product of matrices of frames for each angle and
// parameter.
func (f *Fit) SharedErrors(ctx context.Context, d Data, s Settings) (*SharedErrors, error) {
	sum, found, err := f.scores(ctx, d, s)
	if err != nil {
		return nil, err
	}
	cov, effective, err := sum.Sandwich()
	if err != nil {
		return nil, err
	}
	out := &SharedErrors{Effective: effective, Noise: found}
	for i := range f.X {
		sd := math.Inf(1) // of a direction that the data do not tell, variances are lost to rounding
		if v := cov.At(i, i); v > 0 {
			sd = math.Sqrt(v)
		}
		out.SD = append(out.SD, sd)
		for j := range f.X {
			out.Cov = append(out.Cov, cov.At(i, j))
		}
	}
	return out, nil
}

// effective returns the number of independent entries that would tell the parameters as well, also where the data do not tell all of them:
// over those combinations that they tell.
func (f *Fit) effective(ctx context.Context, d Data, s Settings) (float64, error) {
	sum, _, err := f.scores(ctx, d, s)
	if err != nil {
		return 0, err
	}
	if _, effective, err := sum.Sandwich(); err == nil && effective > 0 {
		return effective, nil
	}
	power, err := sum.power()
	return power * sum.Scatter, err
}

// scores returns those of a fit of these data with these settings, and the noise of each angle.
func (f *Fit) scores(ctx context.Context, d Data, s Settings) (sum Scores, found []Noise, err error) {
	basis, err := s.Scaling.basis(d.Setup.Angles)
	if err != nil {
		return sum, nil, err
	}
	linear := 0
	if basis != nil {
		linear = len(basis[0])
	}
	size := len(f.X)
	free := f.Names[min(2*linear, size):]
	if size != 2*linear+len(free) || len(f.Contrast) != len(d.C2) {
		return sum, nil, fmt.Errorf("twotime: the fit of %s and %d angles does not belong to data of %s with scaling %q: pass the data and settings of this fit", errtext.Count(size, "parameter"), len(f.Contrast), errtext.Count(len(d.C2), "angle"), s.Scaling)
	}
	sum, _, found, err = scores(ctx, &d, Point{Theta: f.Theta, Contrast: f.Contrast, Offset: f.Offset}, free, s.Scaling, s.Threads)
	return sum, found, err
}

// scored is an angle at the point where a fit ended: the scores of one of its pixels.
type scored struct {
	Scores  // of one pixel, by the parameters of the angle
	squares float64
	to      []map[int]float64 // the combinations of all parameters that those of the angle are
	noise   Noise
}

// scores returns those of the coefficients of contrasts and offsets and of the free parameters of the motion at a point, the weighted sum of
// squares there, and the noise of each angle.
func scores(ctx context.Context, d *Data, at Point, free []string, scaling Scaling, threads int) (sum Scores, squares float64, found []Noise, err error) {
	basis, err := scaling.basis(d.Setup.Angles)
	if err != nil {
		return sum, 0, nil, err
	}
	linear := 0
	if basis != nil {
		linear = len(basis[0])
	}
	size := 2*linear + len(free)
	program, err := derivatives(d.Setup, free)
	if err != nil {
		return sum, 0, nil, err
	}
	threads = max(1, threads)
	states, fields := make([]*ad.State, threads), make([]*noise.Fields, threads)
	b, err := prepareCells(d, &Priors{}, PosteriorSettings{Threads: threads, Pixels: scorePixels(len(d.C2))})
	if err != nil {
		return sum, 0, nil, err
	}
	b.free, b.scaling = free, scaling
	if err := b.simulate(ctx, at, b.s.Pixels); err != nil {
		return sum, 0, nil, err
	}
	all := make([]scored, len(d.C2))
	for k, w := range b.white {
		all[k].noise = w.noise
	}
	n := len(d.Setup.Times)
	err = inParallel(ctx, threads, len(d.C2), func(hand, angle int) (err error) {
		if states[hand] == nil {
			states[hand] = program.NewState()
			if fields[hand], err = noise.NewFields(d.Setup); err != nil {
				return err
			}
		}
		st := states[hand]
		for i, v := range noise.Turned(&d.Setup, at.Theta, d.Setup.Angles[angle]) {
			st.Input(i)[0] = v
		}
		if err := st.Run(); err != nil {
			return err
		}
		g, contrast, offset := st.Output(0), at.Contrast[angle], at.Offset[angle]
		of := &all[angle]
		c, weights, ones := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
		for i := range n {
			for j := range n {
				at := i*n + j
				c[at], ones[at] = contrast*g[at]+offset-1, 1
				if i == j {
					continue
				}
				if w := d.weight(angle, min(i, j), max(i, j)); w > 0 {
					weights[at] = w * w
					if i < j {
						r := d.C2[angle][at] - 1 - c[at]
						of.squares += w * w * r * r
						of.Entries++
					}
				}
			}
		}
		var local [][]float64
		if basis != nil {
			local = [][]float64{g, ones}
		}
		for k := range free {
			column := slices.Clone(st.Output(1 + k))
			for i := range column {
				column[i] *= contrast
			}
			local = append(local, column)
		}
		of.to = combinations(basis, angle, linear, len(free))
		_, parts, err := fields[hand].At(at.Theta, d.Setup.Angles[angle])
		if err != nil {
			return err
		}
		source, err := noise.NewSpeckles(parts, n, contrast, offset, of.noise.InverseCount)
		if err != nil {
			return err
		}
		simulated := source.SimulatedScores(c, weights, local, scorePixels(len(d.C2)), tensor.NewStream(0, drawScores, uint32(angle)))
		of.H, of.Q, of.Scatter = simulated.H, simulated.Q, simulated.Scatter
		return nil
	})
	if err != nil {
		return sum, 0, nil, err
	}
	for _, of := range all {
		squares += of.squares
		found = append(found, of.noise)
	}
	return together(all, size), squares, found, nil
}

// scorePixels is the number of pixels that scores are simulated of at each of some angles, whose scores add up.
func scorePixels(angles int) int { return max(1024, 8192/angles) }

// combinations says what the parameters of an angle, which are contrast, offset and those of the motion, are of all parameters.
func combinations(basis [][]float64, angle, linear, free int) (to []map[int]float64) {
	for part := range 2 {
		if basis == nil {
			break
		}
		of := map[int]float64{}
		for i, b := range basis[angle] {
			if b != 0 {
				of[part*linear+i] = b
			}
		}
		to = append(to, of)
	}
	for k := range free {
		to = append(to, map[int]float64{2*linear + k: 1})
	}
	return to
}

// together adds the scores of all angles, each of as many pixels as it has speckles.
func together(all []scored, size int) Scores {
	each := make([]Scores, len(all))
	for k, of := range all {
		each[k] = of.Scores
		each[k].Scatter /= of.noise.Speckles
		each[k].Q = mat.NewSymDense(of.Q.SymmetricDim(), nil)
		each[k].Q.ScaleSym(1/of.noise.Speckles, of.Q)
	}
	return combined(each, size, func(angle int) []map[int]float64 { return all[angle].to })
}

// combined adds the scores of angles, whose parameters are combinations, with the coefficients that of returns, of all size parameters.
func combined(all []Scores, size int, of func(angle int) []map[int]float64) Scores {
	sum := Scores{H: mat.NewSymDense(size, nil), Q: mat.NewSymDense(size, nil)}
	for angle, s := range all {
		to := of(angle)
		for a, left := range to {
			for b, right := range to {
				for i, u := range left {
					for j, v := range right {
						if i <= j {
							sum.H.SetSym(i, j, sum.H.At(i, j)+u*v*s.H.At(a, b))
							sum.Q.SetSym(i, j, sum.Q.At(i, j)+u*v*s.Q.At(a, b))
						}
					}
				}
			}
		}
		sum.Entries += s.Entries
		sum.Scatter += s.Scatter
	}
	return sum
}

// power is what the independent likelihood is raised to so that its curvature is on average that of the scatter of its estimates: p/tr(H^-1 Q).
// Directions that the data do not tell count as the others.
func (s Scores) power() (float64, error) {
	inverse, err := pseudoInverse(s.H)
	if err != nil {
		return 0, err
	}
	var of, told mat.Dense
	of.Mul(inverse, s.Q)
	told.Mul(inverse, s.H)
	return mat.Trace(&told) / mat.Trace(&of), nil
}

// pseudoInverse is the inverse of a matrix of information in the directions that the data tell.
func pseudoInverse(h *mat.SymDense) (*mat.Dense, error) {
	p := h.SymmetricDim()
	a, scale := scaled(h, p)
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return nil, errors.New("twotime: the information of the data about the parameters is not finite: check the data, or start elsewhere")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	values := e.Values(nil)
	if !(values[p-1] > 0) {
		return nil, errors.New("twotime: the data say nothing about the parameters: use more frames or angles, or hold parameters fixed")
	}
	out := mat.NewDense(p, p, nil)
	for k, v := range values {
		if v < 1e-10*values[p-1] {
			continue
		}
		for i := range p {
			for j := range p {
				out.Set(i, j, out.At(i, j)+vectors.At(i, k)*vectors.At(j, k)/(v*scale[i]*scale[j]))
			}
		}
	}
	return out, nil
}

// derivatives is a program for g of all pairs at the angle 0, (frames, frames), and its derivatives by parameters of the motion.
func derivatives(s transport.Setup, free []string) (*ad.Program, error) {
	s.Angles = []float64{0}
	theta, err := s.Inputs()
	if err != nil {
		return nil, err
	}
	g := s.Pairs(theta, transport.Square(len(s.Times)))[0]
	outs := []*ad.Node{g}
	for k, name := range s.Names() { // the derivatives by the angle of the motion are those at an angle that was turned
		if slices.Contains(free, name) {
			outs = append(outs, ad.JVP(g, theta[k:k+1], []*ad.Node{ad.Scalar(1)}))
		}
	}
	return ad.Compile(outs, ad.Settings{Inputs: theta, Backend: ad.CPU{Threads: 1}})
}
