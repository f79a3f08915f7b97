// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// hidden is the error of a pixel, in medians of those of its spectrum, above which it is taken for masked.
const hidden = 100

// remains are the residuals of a star at its fit, and the columns along which the fit can move them.
type remains struct {
	used    [][]int // pixels that count, by spectrum
	first   []int   // places of the first pixel of each spectrum in z
	z       []float64
	lam     []float64
	names   []string    // of the columns: parameters that are free, and functions of the continua
	columns []float64   // derivatives of the model, in standard deviations
	scaled  [][]float64 // template over error, by spectrum
}

// remains returns the residuals of a star in place i of the outputs.
func (l *layout) remains(s *places, i int, star *Star, d *descent) *remains {
	of := func(k, what int) []float64 { return s.output(outSpectra + k*perSpectrum + what) }
	n, functions := len(l.names), l.f.functions()
	free := d.free()
	r := &remains{}
	points := 0
	for _, x := range star.Spectra {
		limit := hidden * median(x.Err)
		var list []int
		for p, e := range x.Err {
			if e < limit && (x.Bad == nil || !x.Bad[p]) {
				list = append(list, p)
			}
		}
		r.used, r.first, points = append(r.used, list), append(r.first, points), points+len(list)
	}
	r.z, r.lam = make([]float64, points), make([]float64, points)
	r.columns = make([]float64, (len(free)+functions*len(star.Spectra))*points)
	for _, k := range free {
		r.names = append(r.names, l.names[k])
	}
	for k, x := range star.Spectra {
		pixels := len(x.Lam)
		z, scaled := of(k, ofResiduals)[i*pixels:(i+1)*pixels], of(k, ofScaled)[i*pixels:(i+1)*pixels]
		jacobian := of(k, ofJacobian)[i*n*pixels : (i+1)*n*pixels]
		basis := l.arms[k].Basis()
		for at, p := range r.used[k] {
			at += r.first[k]
			r.z[at], r.lam[at] = z[p], x.Lam[p]
			for c, f := range free {
				r.columns[c*points+at] = jacobian[f*pixels+p]
			}
			for c := range functions {
				r.columns[(len(free)+k*functions+c)*points+at] = basis[c*pixels+p] * scaled[p]
			}
		}
		for range functions {
			r.names = append(r.names, "")
		}
		r.scaled = append(r.scaled, scaled)
	}
	return r
}

// KindUnusable is the kind of a flag: most pixels of a spectrum have a flux or an error that is no number that a fit can use.
const KindUnusable = "unusable pixels"

// sayUnusable flags the spectra of which most pixels have no usable flux or error.
func (s *Star) sayUnusable() (out []check.Alteration) {
	for _, x := range s.Spectra {
		if n := len(x.Lam); 2*x.Unusable > n {
			out = append(out, check.Alteration{Kind: KindUnusable, Count: x.Unusable,
				Text:   fmt.Sprintf("%d of the %d pixels of %s were left out, because their flux is not a finite number or their error is not a finite number above 0", x.Unusable, n, x.Arm),
				Remedy: "check the column of errors, or mask the pixels that are meant to be left out"})
		}
	}
	return out
}

// leastGain is the reduction of chi-square by the templates below which a velocity may be that of noise: the search over velocities and
// templates finds reductions of some 10 to 20 in noise, and rvspecfit warns below 50.
const leastGain = 50

// gain returns by how much the templates reduce the chi-square of the continuum alone.
func (fit *Fit) gain() (sum float64) {
	for _, x := range fit.Spectra {
		sum += x.ContinuumOnly - x.ChiSquare
	}
	return sum
}

// farthest is the distance from the minimum, in standard deviations, above which a fit is not said to have converged.
const farthest = 0.1

// distance returns how far a fit is from the minimum of the quadratic function with the gradient of -2 log posterior there
// and the covariance of the fit, in standard deviations.
func (fit *Fit) distance(gradient []float64, d *descent) float64 {
	free, n, square := d.free(), len(fit.X), 0.0
	for _, k := range free {
		for _, l := range free {
			square += gradient[k] * fit.Cov[k*n+l] * gradient[l]
		}
	}
	return math.Sqrt(max(square, 0)) / 2
}

// judge tests the residuals of a star in place i of the outputs, after what the parameters and the continua
// can take up is taken out of them.
func (l *layout) judge(s *places, i int, scanner *scanner, star *Star, d *descent, fit *Fit) (*check.Verdict, error) {
	r := l.remains(s, i, star, d)
	n := len(l.names)
	data := check.Data{Z: r.z, Names: r.names, Jacobian: r.columns, Axes: []check.Axis{{Name: "wavelength", Unit: "Å", Values: r.lam}}, Altered: saySpikes(fit.Spikes)}
	data.SigmaEstimated = slices.ContainsFunc(star.Spectra, func(x Spectrum) bool { return x.Estimated })
	data.AtPoint, data.Penalised, data.OnBounds = true, true, len(fit.AtBound)
	if n := fit.Polynomials; n > 0 {
		data.Altered = append(data.Altered, check.Alteration{Kind: KindContinuum, Count: n, Note: true,
			Text: fmt.Sprintf("the continuum has %s beside the %s that were asked for, because the residuals call for them", errtext.Count(n, "polynomial"), errtext.Count(l.f.s.Continuum, "function"))})
	}
	data.Altered = append(data.Altered, star.sayUnusable()...)
	named, err := l.named(scanner, r, star, fit)
	if err != nil {
		return nil, err
	}
	data.Directions = append(append(named, r.lineDirections(star, fit, l.velocity)...), l.continuumDirection(r))
	if p := newProjector(r); p.ok {
		if note := l.coarse(p, star, fit); note != nil {
			data.Findings = append(data.Findings, *note)
		}
	}
	for _, name := range fit.AtBound {
		k := slices.Index(l.names, name)
		b := check.Bound{Name: name, Value: fit.X[k], Limit: fit.X[k]}
		if h := d.best.h[k*n+k]; h > 0 {
			b.Pull = math.Abs(d.slope(k)) / math.Sqrt(2*h)
		}
		data.Bounds = append(data.Bounds, b)
	}
	if !fit.Converged {
		data.Findings = append(data.Findings, check.Flag{Kind: check.KindUnconverged, Text: "The fit has " + fit.Status, Remedy: "other starts"})
	}
	if off := fit.distance(s.output(outGradient)[i*n:(i+1)*n], d); d.status == minimum && d.best.penalty == 0 && off > farthest { // a hull holds other points where the gradient is not 0
		data.Findings = append(data.Findings, check.Flag{Kind: check.KindUnconverged,
			Text:   fmt.Sprintf("the fit is not at a minimum: by the derivatives at the result, the parameters would move by %.2g standard deviations", off),
			Remedy: "other starts"})
	}
	if gain := fit.gain(); gain < leastGain && !l.fixed[0] {
		data.Findings = append(data.Findings, check.Flag{Kind: check.KindUnknown, Where: l.names[0],
			Text:   fmt.Sprintf("the templates lower the chi-square of the continuum alone by only %.3g, which noise can do at some velocity: the spectra do not show a star", gain),
			Remedy: "add up exposures, or look at the spectra"})
	}
	if data.Priors, err = l.priors(fit); err != nil {
		return nil, err
	}
	v, err := check.Judge(data, check.Settings{})
	return &v, err
}
