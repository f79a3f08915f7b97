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
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/sim/xpcs/transport/noise"
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
	SD, Cov   []float64 // standard deviations of Fit.X, and their covariance
	Effective float64   // number of independent entries that would determine the parameters as well
	Noise     []Noise   // noise of each angle, as given or estimated
	// Intervals holds the lower and the upper end of an interval of 95 % for each parameter. Its sides
	// differ where the model bends within the errors; SD and Cov have the root of their mean square,
	// but no less than the linearised model has.
	Intervals [][2]float64
	sides     [][2]float64 // over those of the linearised model
}

// SharedErrors computes the errors of a fit of these data with these settings, from the scatter of the scores of simulated pixels and from
// how the model bends within them. It takes a product of a matrix of frames and one of pixels for each angle and parameter.
func (f *Fit) SharedErrors(ctx context.Context, d Data, s Settings) (*SharedErrors, error) {
	of, err := f.scorer(ctx, &d, s)
	if err != nil {
		return nil, err
	}
	sum := of.together()
	cov, effective, err := sum.Sandwich()
	if err != nil {
		return nil, err
	}
	out := &SharedErrors{Effective: effective, Noise: of.noise()}
	if out.sides, err = of.sides(); err != nil {
		return nil, err
	}
	for i, x := range f.X {
		sd := math.Inf(1) // of a direction that the data do not tell, variances are lost to rounding
		if v := cov.At(i, i); v > 0 {
			sd = math.Sqrt(v)
		}
		lower, upper := out.sides[i][0], out.sides[i][1]
		out.SD = append(out.SD, sd*stretch(out.sides[i]))
		out.Intervals = append(out.Intervals, [2]float64{x - profiled*sd*lower, x + profiled*sd*upper})
		for j := range f.X {
			out.Cov = append(out.Cov, cov.At(i, j)*stretch(out.sides[i])*stretch(out.sides[j]))
		}
	}
	return out, nil
}

// effective returns the number of independent entries that would tell the parameters as well, also where the data do not tell all of them:
// over those combinations that they tell.
func (f *Fit) effective(ctx context.Context, d Data, s Settings) (float64, error) {
	of, err := f.scorer(ctx, &d, s)
	if err != nil {
		return 0, err
	}
	sum := of.together()
	if _, effective, err := sum.Sandwich(); err == nil && effective > 0 {
		return effective, nil
	}
	power, err := sum.power()
	return power * sum.Scatter, err
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
