// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Standard deviations are often computed from the observed values: the square root of a count, or a
// percentage of the reading. A point that fluctuates downwards then gets a small standard deviation
// and a large weight, and its residual shares its noise with its standard deviation, so that the
// residuals of a right model are not normal. This file removes that: sigmaOfValue in
// sigma_origin.go finds out whether standard deviations were computed from the observed values, and
// by which function; refitted then makes the fit again with this function of the predicted values;
// and atPredicted lets the verdict judge the residuals of that fit.

// KindReadings is the note about errors that were computed from the observed values.
const KindReadings = "errors of the observed values"

// tellingShift is the number of standard deviations from which a summary says that errors of the observed values have moved a parameter.
const tellingShift = 0.5

// fewestReadings is the smallest number of points from which standard deviations are said to be
// computed from the observed values.
const fewestReadings = 8

// atPredicted replaces residuals, Jacobian and standard deviations by those that belong to standard
// deviations at the predicted values, if the given ones were computed from the observed values, and
// notes so in the verdict.
//
// The new residuals are those of a fit with the new standard deviations, linear in the parameters.
// That fit has no residual along the Jacobian, but the given fit may, for instance where a prior
// pulls; the tests of priors look at this part, so it is put back.
func (d *Data) atPredicted(v *Verdict) {
	if !d.mayHaveReadings() {
		return
	}
	y := d.observed()
	sigmaAt := d.sigmaOfValue(y)
	if sigmaAt == nil {
		return
	}
	fit, moved, ok := d.refitted(y, sigmaAt)
	if !ok {
		return
	}
	given := new(Workspace).residuals(d)
	left := given.estimate(d.Z) // what the given fit left along the Jacobian
	name, shift := given.largestShift(moved, left)
	n := len(d.Z)
	for k := range d.Names {
		linalg.AddScaled(fit.Z, left[k], fit.Jacobian[k*n:(k+1)*n])
	}
	d.Z, d.Jacobian, d.Sigma = fit.Z, fit.Jacobian, fit.Sigma
	d.rescaled, v.rescaled = true, true
	v.add(readingsNote(name, shift), true)
	if math.Abs(shift) >= tellingShift {
		v.drawn = fmt.Sprintf(", but with errors at the predicted values, %s would move by about %s standard deviations", name, Rough(shift))
	}
}

// mayHaveReadings reports whether there are enough points with known standard deviations that differ.
func (d *Data) mayHaveReadings() bool {
	return !d.SigmaFitted && d.Sigma != nil && d.Mean != nil && len(d.Z) >= fewestReadings && slices.Min(d.Sigma) != slices.Max(d.Sigma)
}

// observed returns the observed values.
func (d *Data) observed() []float64 {
	y := make([]float64, len(d.Z))
	for i, z := range d.Z {
		y[i] = d.Mean[i] + z*d.Sigma[i]
	}
	return y
}

// largestShift returns the parameter that moves furthest in units of its standard deviation, and by
// how many of these, if the parameters move by moved instead of by left.
func (w *residuals) largestShift(moved, left []float64) (name string, shift float64) {
	for i, k := range w.kept {
		if s := (moved[k] - left[k]) / math.Sqrt(inverseRow(w.r, 0, i)); math.Abs(s) > math.Abs(shift) {
			name, shift = w.d.Names[k], s
		}
	}
	return name, shift
}

// readingsNote says that the standard deviations were taken at the predicted values, and which
// parameter that moves, by how many of its standard deviations.
func readingsNote(name string, shift float64) Flag {
	text := "the errors follow the observed values, as the square root of a count or a percentage of the reading does; the verdict takes them at the predicted values instead, but weights of this kind draw a fit towards values with small errors"
	if math.Abs(shift) >= 0.1 {
		text += fmt.Sprintf("; with errors at the predicted values, %s would move by about %s standard deviations", name, Rough(shift))
	}
	return Flag{Kind: KindReadings, Text: text}
}

// The fits of refitted end after mostRefits, or when no predicted value moves by more than settled
// standard deviations.
const (
	mostRefits = 20
	settled    = 1e-3
)

// refitted fits the observed values y by iteratively reweighted least squares: each fit takes the
// standard deviations sigmaAt the values that the fit before predicts. It returns the data of the
// last fit, with its residuals, and by how much the parameters moved in all, in the order of Names.
// It is not ok if some predicted value has no positive standard deviation.
//
// The model is linear: predictions follow the Jacobian. Where all predictions are positive, as those
// of counts are, they follow it in their logarithm, so that none becomes negative.
func (d *Data) refitted(y []float64, sigmaAt func(float64) float64) (fit Data, moved []float64, ok bool) {
	positive := slices.Min(d.Mean) > 0
	moved = make([]float64, len(d.Names))
	mean := slices.Clone(d.Mean) // predicted values
	for range mostRefits {
		if fit, ok = d.reweighted(y, mean, sigmaAt, positive); !ok {
			return fit, moved, false
		}
		w := new(Workspace).residuals(&fit)
		step := w.estimate(fit.Z)
		move, furthest := fit.predictedMove(step)
		part := 1.0
		if positive {
			part = shortened(move, mean, fit.Sigma)
		}
		for i, m := range move {
			if positive {
				mean[i] *= math.Exp(part * m * fit.Sigma[i] / mean[i])
			} else {
				mean[i] += m * fit.Sigma[i]
			}
		}
		linalg.AddScaled(moved, part, step)
		if copy(fit.Z, w.z); furthest < settled {
			break
		}
	}
	return fit, moved, true
}

// reweighted returns the data for a fit of y from predictions mean, in units of their standard
// deviations. The Jacobian of positive predictions grows in proportion to them. It is not ok if some
// standard deviation is not positive.
func (d *Data) reweighted(y, mean []float64, sigmaAt func(float64) float64, positive bool) (fit Data, ok bool) {
	n := len(y)
	fit = Data{Z: make([]float64, n), Sigma: make([]float64, n), Names: d.Names, Jacobian: slices.Clone(d.Jacobian)}
	for i, m := range mean {
		s := sigmaAt(m)
		if !(s > 0) || math.IsInf(s, 0) {
			return fit, false
		}
		fit.Sigma[i], fit.Z[i] = s, (y[i]-m)/s
		for k := range d.Names {
			fit.Jacobian[k*n+i] *= d.Sigma[i] / s
			if positive {
				fit.Jacobian[k*n+i] *= m / d.Mean[i]
			}
		}
	}
	return fit, true
}

// predictedMove returns how far a step of the parameters moves each prediction, in standard
// deviations, and the largest of these distances.
func (d *Data) predictedMove(step []float64) (move []float64, furthest float64) {
	n := len(d.Z)
	move = make([]float64, n)
	for k := range d.Names {
		linalg.AddScaled(move, step[k], d.Jacobian[k*n:(k+1)*n])
	}
	for _, m := range move {
		furthest = max(furthest, math.Abs(m))
	}
	return move, furthest
}

// shortened returns the part of a step, at most 1, that changes no positive prediction by more than a
// factor of e.
func shortened(move, mean, sigma []float64) float64 {
	part := 1.0
	for i, m := range move {
		part = min(part, mean[i]/(math.Abs(m)*sigma[i]))
	}
	return part
}

// estimate returns the coefficients of the parameters' columns that fit z best, 0 for columns that
// add nothing.
func (w *residuals) estimate(z []float64) []float64 {
	coef, along := make([]float64, len(w.d.Names)), make([]float64, len(w.kept))
	for i, q := range w.base.q {
		along[i] = dot(q, z)
	}
	for i, x := range backward(w.r, 0, along) {
		coef[w.kept[i]] = x
	}
	return coef
}
