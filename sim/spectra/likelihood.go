// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"cmp"
	"math"

	"github.com/euryale-dev/euryale/autodiff"
)

// Exposure is one observed spectrum, or one spectrum of each star of a batch. The leading axes are
// the stars.
type Exposure struct {
	Arm *Arm
	// Vel is the velocity (km/s) in this exposure, in place of the common one; see NewLikelihood.
	Vel      *autodiff.Node
	Template *autodiff.Node // rows of log flux at the knots of the arm
	Flux     *autodiff.Node // rows of pixels
	Err      *autodiff.Node // standard deviations; a masked pixel has a large one
	// Floor is added to Err in quadrature, in the likelihood only, and broadcasts with it: a number, one for each pixel,
	// or (stars, 1). Default: none.
	Floor *autodiff.Node
	// Band is the resolution matrix, or one for each row, of shape (2h+1, pixels). Default: that of
	// the arm; if Band is given, the arm must have none.
	Band *autodiff.Node
	// Good is 1 where a pixel counts in TrueChiSquare and 0 elsewhere. Default: everywhere.
	Good *autodiff.Node
	// Outside is how far the parameters lie outside the template library, 0 inside, with a number
	// for each row. Default: inside. See Likelihood.
	Outside *autodiff.Node
}

// Likelihood is the chain from templates to chi-square. All Nodes have the leading axes of the stars.
//
// With Outside, each spectrum adds Outside times 10 times the number of pixels of all spectra. Where Outside is not
// finite, or the template is not finite or above 1e100 where Outside is positive, a spectrum adds 1000 times as much
// and nothing else.
type Likelihood struct {
	// ChiSquare is -2 log L of all spectra, with the penalties of Outside: chi2 + 2 sum log e + log det M.
	ChiSquare *autodiff.Node
	Spectra   []Spectrum // parts of the likelihood, one for each exposure
}

// Spectrum is the part of the likelihood that comes from one exposure.
type Spectrum struct {
	Model        *autodiff.Node // template at the pixels, before the continuum
	Continuum    *autodiff.Node
	Coefficients *autodiff.Node // coefficients of the continuum's functions
	Residuals    *autodiff.Node // (flux - continuum*model)/e, with the floor
	// ChiSquare is -2 log L of this spectrum, without penalties.
	ChiSquare *autodiff.Node
	// TrueChiSquare is the sum of ((flux - continuum*model)/Err)^2 over good pixels, without the floor.
	TrueChiSquare *autodiff.Node
	// Marginal is chi2 + log det M alone. In programs in float32, whose rounding would hide small
	// differences, it comes in two Nodes to be added in float64, with LogErr, which is constant in
	// a fit.
	Marginal, MarginalRest *autodiff.Node
	LogErr                 *autodiff.Node // sum 2 log e, plus the constant of the basis

	arm      *Arm
	scaled   *autodiff.Node // Model / e
	marginal *autodiff.LinearMarginal
}

// NewLikelihood builds the graph of exposures of stars at velocities vel that rotate at vsini
// (km/s), one number for each star. An exposure may have a velocity of its own; vel may be nil if
// all have one. A nil vsini broadens nothing. Exposures of one arm with the same Template Node
// share the model. Leading axes broadcast: many velocities with one template, vsini and spectrum
// are a scan that makes the spline once.
func NewLikelihood(vel, vsini *autodiff.Node, exposures ...Exposure) *Likelihood {
	l := &Likelihood{}
	pixels := 0
	for _, e := range exposures {
		pixels += e.Arm.Pixels()
	}
	for _, e := range exposures {
		template, skip := e.safeTemplate()
		s := e.Compare(e.Arm.Model(template, cmp.Or(e.Vel, vel), vsini, e.Band))
		part := s.ChiSquare
		if e.Outside != nil {
			penalty := 10 * float64(pixels)
			inside := autodiff.Where(skip, autodiff.Scalar(0), e.Outside)
			part = autodiff.Where(skip, autodiff.Scalar(0), part)
			part = autodiff.Where(autodiff.Mul(autodiff.Greater(inside, autodiff.Scalar(0)), notFinite(part)), autodiff.Scalar(0), part)
			part = autodiff.Add(part, autodiff.Where(skip, autodiff.Scalar(1000*penalty), autodiff.Scale(penalty, inside)))
			s.Model = autodiff.Where(column(skip), autodiff.Scalar(math.NaN()), s.Model)
		}
		l.Spectra = append(l.Spectra, s)
		if l.ChiSquare == nil {
			l.ChiSquare = part
		} else {
			l.ChiSquare = autodiff.Add(l.ChiSquare, part)
		}
	}
	return l
}

// highestLogFlux is log 1e100.
const highestLogFlux = 100 * math.Ln10

// safeTemplate returns the template with zeros in the rows to be skipped, and which these are; nil for none.
func (e Exposure) safeTemplate() (template, skip *autodiff.Node) {
	if e.Outside == nil {
		return e.Template, nil
	}
	top, bottom := autodiff.MaxAxes(e.Template, -1), autodiff.MinAxes(e.Template, -1)
	low := autodiff.Mul(autodiff.LessEqual(top, autodiff.Scalar(highestLogFlux)), autodiff.Greater(bottom, autodiff.Scalar(math.Inf(-1))))
	wild := autodiff.Mul(autodiff.NotEqual(e.Outside, autodiff.Scalar(0)), autodiff.Equal(low, autodiff.Scalar(0)))
	skip = autodiff.Maximum(notFinite(e.Outside), wild)
	return autodiff.Where(column(skip), autodiff.Scalar(0), e.Template), skip
}

// notFinite is 1 where x is NaN or infinite.
func notFinite(x *autodiff.Node) *autodiff.Node {
	return autodiff.NotEqual(autodiff.Sub(x, x), autodiff.Scalar(0))
}

// Compare returns the likelihood of models at the pixels, before the continuum. It does not read
// Template or Outside.
func (e Exposure) Compare(model *autodiff.Node) Spectrum {
	err := e.Err
	if e.Floor != nil {
		err = autodiff.Hypot(err, e.Floor)
	}
	weight := autodiff.Reciprocal(err)
	s := Spectrum{Model: model, arm: e.Arm, scaled: autodiff.Mul(model, weight)}
	s.marginal = autodiff.NewLinearMarginal(s.scaled, autodiff.Mul(e.Flux, weight), e.Arm.basis)
	s.Marginal, s.MarginalRest = s.marginal.ChiSquare(), s.marginal.ChiSquareRest()
	s.LogErr = autodiff.Shift(autodiff.Scale(2, autodiff.SumAxes(autodiff.Log(err), -1)), -2*e.Arm.logDet)
	s.ChiSquare = autodiff.Add(s.Marginal, s.LogErr)
	s.Continuum = s.marginal.Continuum()
	s.Coefficients = e.Arm.coefficients(s.marginal.Coefficients())
	miss := autodiff.Sub(e.Flux, autodiff.Mul(s.Continuum, model))
	s.Residuals = autodiff.Mul(miss, weight)
	square := autodiff.Square(autodiff.Div(miss, e.Err))
	if e.Good != nil {
		square = autodiff.Where(e.Good, square, autodiff.Scalar(0))
	}
	s.TrueChiSquare = autodiff.SumAxes(square, -1)
	return s
}

// ContinuumOnly returns the spectra of a template of ones, with the resolution applied to it: what the continuum alone
// can fit. Outside is ignored.
func ContinuumOnly(exposures ...Exposure) []Spectrum {
	out := make([]Spectrum, len(exposures))
	for i, e := range exposures {
		out[i] = e.Compare(e.Arm.resolved(autodiff.Full(1, e.Arm.Pixels()), e.Band))
	}
	return out
}

// GaussNewton returns the gradient of ChiSquare and the Gauss-Newton approximation of its Hessian
// with respect to parameters, one number for each star or a last axis of them, in the order in
// which they are given: twice the products of the model's derivatives after what the continuum can
// take up is projected out of them (Kaufman). The gradient keeps log det M. Errors and penalties
// must not depend on the parameters, as their part is not included.
func (l *Likelihood) GaussNewton(params ...*autodiff.Node) (gradient, hessian *autodiff.Node) {
	for _, s := range l.Spectra {
		g, h := s.gaussNewton(directions(l.ChiSquare.Shape(), params))
		if gradient == nil {
			gradient, hessian = g, h
		} else {
			gradient, hessian = autodiff.Add(gradient, g), autodiff.Add(hessian, h)
		}
	}
	return gradient, hessian
}

// direction is a parameter and a one for each star.
type direction struct{ param, one *autodiff.Node }

func directions(lead []int, params []*autodiff.Node) []direction {
	var out []direction
	for _, p := range params {
		if len(p.Shape()) == len(lead) {
			out = append(out, direction{p, autodiff.Full(1, p.Shape()...)})
			continue
		}
		n := p.Shape()[len(p.Shape())-1]
		for i := range n {
			one := make([]float64, n)
			one[i] = 1
			out = append(out, direction{p, autodiff.Broadcast(autodiff.Const(one), p.Shape()...)})
		}
	}
	return out
}

// Scaled returns the template at the pixels over the errors: multiplied by a function of the
// continuum, this is the derivative of the model with respect to its coefficient, in standard
// deviations.
func (s Spectrum) Scaled() *autodiff.Node { return s.scaled }

// Jacobian returns the derivatives of the model with respect to parameters, as for GaussNewton,
// with the continuum held fixed, in standard deviations: the axis of the parameters comes before
// that of the pixels.
func (s Spectrum) Jacobian(params ...*autodiff.Node) *autodiff.Node {
	j, c := s.slopes(directions(s.ChiSquare.Shape(), params))
	return autodiff.Mul(c, j)
}

// slopes returns the derivatives of the template over the errors along directions, and the continuum.
func (s Spectrum) slopes(along []direction) (j, c *autodiff.Node) {
	rows := make([]*autodiff.Node, len(along))
	for i, d := range along {
		rows[i] = autodiff.JVP(s.scaled, []*autodiff.Node{d.param}, []*autodiff.Node{d.one})
	}
	shape := s.scaled.Shape()
	lead, n := shape[:len(shape)-1], shape[len(shape)-1]
	return autodiff.Stack(-2, rows...), autodiff.Reshape(s.Continuum, append(lead.Clone(), 1, n)...)
}

func (s Spectrum) gaussNewton(along []direction) (gradient, hessian *autodiff.Node) {
	j, c := s.slopes(along)
	slope := autodiff.Grad(s.Marginal, s.scaled)[0]
	shape := s.scaled.Shape()
	gradient = autodiff.MatMul(j, column(slope))
	gradient = autodiff.Reshape(gradient, append(shape[:len(shape)-1].Clone(), len(along))...)
	p := s.marginal.Project(autodiff.Mul(c, j))
	return gradient, autodiff.Scale(2, autodiff.MatMul(p, autodiff.T(p)))
}

// Hessian returns the second derivatives of chi, one number for each star, with respect to parameters as for
// GaussNewton, exactly. The stars must not share parameters.
func Hessian(chi *autodiff.Node, params ...*autodiff.Node) *autodiff.Node {
	lead := chi.Shape()
	columns := func(y *autodiff.Node) []*autodiff.Node {
		var out []*autodiff.Node
		for i, g := range autodiff.Grad(y, params...) {
			if len(params[i].Shape()) == len(lead) {
				out = append(out, g)
				continue
			}
			for k := range params[i].Shape()[len(lead)] {
				out = append(out, autodiff.Index(g, -1, k))
			}
		}
		return out
	}
	var rows []*autodiff.Node
	for _, g := range columns(chi) {
		rows = append(rows, autodiff.Stack(-1, columns(g)...))
	}
	return autodiff.Stack(-2, rows...)
}
