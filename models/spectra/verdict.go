// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
)

// hidden is the error of a pixel, in medians of those of its spectrum, above which it is taken for masked.
const hidden = 100

// judge tests the residuals of a star in place i of the outputs, after what the parameters and the continua
// can take up is taken out of them.
func (l *layout) judge(s *places, i int, star *Star, d *descent, fit *Fit) (*check.Verdict, error) {
	of := func(k, what int) []float64 { return s.output(outSpectra + k*perSpectrum + what) }
	n, functions := len(l.names), l.f.s.Continuum
	free := d.free()
	// Which pixels count.
	var used [][]int
	points := 0
	for _, x := range star.Spectra {
		sorted := slices.Sorted(slices.Values(x.Err))
		limit := hidden * sorted[len(sorted)/2]
		var list []int
		for p, e := range x.Err {
			if e < limit && (x.Bad == nil || !x.Bad[p]) {
				list = append(list, p)
			}
		}
		used, points = append(used, list), points+len(list)
	}
	data := check.Data{Z: make([]float64, 0, points), Axes: []check.Axis{{Name: "wavelength", Unit: "Å"}}}
	columns := len(free) + functions*len(star.Spectra)
	data.Jacobian = make([]float64, columns*points)
	for _, k := range free {
		data.Names = append(data.Names, l.names[k])
	}
	for k, x := range star.Spectra {
		pixels := len(x.Lam)
		z, scaled := of(k, ofResiduals)[i*pixels:(i+1)*pixels], of(k, ofScaled)[i*pixels:(i+1)*pixels]
		jacobian := of(k, ofJacobian)[i*n*pixels : (i+1)*n*pixels]
		basis := l.arms[k].Basis()
		at := len(data.Z)
		for r, p := range used[k] {
			data.Z = append(data.Z, z[p])
			data.Axes[0].Values = append(data.Axes[0].Values, x.Lam[p])
			for c, f := range free {
				data.Jacobian[c*points+at+r] = jacobian[f*pixels+p]
			}
			for c := range functions {
				data.Jacobian[(len(free)+k*functions+c)*points+at+r] = basis[c*pixels+p] * scaled[p]
			}
		}
		for c := range functions {
			data.Names = append(data.Names, fmt.Sprintf("continuum %d of %s", c, x.Arm))
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
	var err error
	if data.Priors, err = l.priors(fit); err != nil {
		return nil, err
	}
	v, err := check.Judge(data, check.Settings{})
	return &v, err
}
