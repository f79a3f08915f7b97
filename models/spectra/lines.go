// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/infer/check"
)

// KindAbsorption is the flag of a line of the star that the templates lack; KindEmission that of one above the model.
const KindAbsorption = "absorption"

// lineWidths are the standard deviations of the lines that are sought in the residuals, in pixels.
var lineWidths = []float64{1, 2, 4, 8}

// lineDirections returns the line above the model, and that below it, that explain most of the residuals. velocity says which of the velocities each spectrum has.
func (r *remains) lineDirections(star *Star, fit *Fit, velocity []int) (all []check.Direction) {
	type found struct {
		fall, width float64
		spectrum    int
		pixel       int // in used
	}
	var best [2]found
	for k := range star.Spectra {
		n := len(r.used[k])
		z, weight := r.z[r.first[k]:r.first[k]+n], make([]float64, n)
		for i, p := range r.used[k] {
			weight[i] = r.scaled[k][p] / fit.Spectra[k].Template[p]
		}
		for _, width := range lineWidths {
			profile := lineProfile(width)
			half := len(profile) - 1
			for at := range n {
				along, square := 0.0, 0.0
				for i := max(0, at-half); i < min(n, at+half+1); i++ {
					// Pixels between which some are masked are farther apart.
					if d := r.used[k][i] - r.used[k][at]; d <= half && d >= -half {
						g := profile[max(d, -d)] * weight[i]
						along, square = along+g*z[i], square+g*g
					}
				}
				sign := 0
				if along < 0 {
					sign = 1
				}
				if fall := along * along / square; square > 0 && fall > best[sign].fall {
					best[sign] = found{fall, width, k, at}
				}
			}
		}
	}
	for sign, b := range best {
		if b.fall == 0 {
			continue
		}
		x := &star.Spectra[b.spectrum]
		used, column := r.used[b.spectrum], make([]float64, len(r.z))
		profile := lineProfile(b.width)
		top := used[b.pixel]
		for i, p := range used {
			if d := max(p-top, top-p); d < len(profile) {
				column[r.first[b.spectrum]+i] = profile[d] * r.scaled[b.spectrum][p] / fit.Spectra[b.spectrum].Template[p]
			}
		}
		continuum := fit.Spectra[b.spectrum].Model[top]
		name := lineAt(x, x.Lam[top], fit.X[velocity[b.spectrum]])
		all = append(all, lineDirection(sign == 0, x.Lam[top], b.width*(x.Lam[min(top+1, len(x.Lam)-1)]-x.Lam[max(top-1, 0)])/2, name, continuum, column, len(r.z)*len(lineWidths)))
	}
	return all
}

// lineProfile returns half of a Gaussian with a standard deviation in pixels.
func lineProfile(width float64) []float64 {
	out := make([]float64, int(3*width)+1)
	for d := range out {
		out[d] = math.Exp(-float64(d*d) / (2 * width * width))
	}
	return out
}

func lineDirection(above bool, at, width float64, name string, model float64, column []float64, tried int) check.Direction {
	kind, what, remedy := KindAbsorption, "an absorption line that the model lacks", "mask it if it does not belong to the star, or use templates that have it"
	if above {
		kind, what, remedy = KindEmission, "light above the model, as of an emission line", "mask it if it is emission, or a cosmic ray or sky light that was left over: the templates have no emission"
	}
	if name != "" {
		name = ", where " + name + " may be"
	}
	return check.Direction{Kind: kind, Columns: [][]float64{column}, Tried: tried, Holds: func(coef []float64) bool { return coef[0] > 0 == above },
		Say: func(coef, _ []float64) (string, string) {
			return fmt.Sprintf("there is %s at %.1f Å%s, with a standard deviation of about %.2g Å and a height of %.2g of the model there", what, at, name, width, math.Abs(coef[0]/model)), remedy
		}}
}
