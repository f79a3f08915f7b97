// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/internal/median"
)

// block is the number of pixels over which the scatter of a spectrum is taken to be the same.
const block = 128

// leastScatter is the number of pixels from which a scatter is estimated.
const leastScatter = 20

// estimateErrors gives a spectrum errors from the scatter of its pixels. Lines that are as narrow as a few pixels add to it, and noise
// that neighbouring pixels share hides from it.
func (r *roles) estimateErrors(s *Raw) error {
	sd := scatter(s.Flux, s.Mask)
	if sd == nil {
		return &FormatError{Format: "survey", File: r.file, What: fmt.Sprintf("there are no errors, and the %s do not show how large they are", errtext.Count(len(s.Flux), "pixel")), Err: ErrIncomplete, Try: "add a column error or ivar"}
	}
	s.IVar, s.Estimated = make([]float64, len(sd)), true
	for i, e := range sd {
		s.IVar[i] = 1 / (e * e)
	}
	none := "there are no errors"
	if r.unused != nil {
		none = fmt.Sprintf("there is no column of errors (not used: %s)", strings.Join(r.unused, ", "))
	}
	r.note("%s: they are estimated from how neighbouring pixels scatter, with a median signal-to-noise ratio of %.3g, and narrow lines or smoothed pixels make them wrong, so the size of the residuals is not judged", none, s.SignalToNoise())
	if share := shared(s.Flux, s.Mask); share < leastShared {
		r.note("neighbouring pixels share noise, as after resampling or smoothing, since they differ only %.2g times as much as pixels two apart: errors of fitted parameters, which take pixels as independent, are about %.2g times too small; give the spectrum as it was measured, or a column error that allows for it", share, 1/share)
	}
	return nil
}

// leastShared is the ratio of shared below which noise must be the reason: lines alone, at signal-to-noise ratios of up to 90, leave more than 0.7.
const leastShared = 0.7

// shared returns how much neighbouring pixels scatter, against pixels two apart: about 1 for independent noise, and less if neighbours share
// noise or lines are a few pixels wide. For noise that is interpolated linearly or smoothed over up to 3 pixels, one over it is within a third
// how much errors from scatter make the errors of parameters too small. It is NaN where nothing scatters.
func shared(flux []float64, mask []bool) float64 {
	near, far := differences(flux, mask, 1, 0, len(flux)), differences(flux, mask, 2, 0, len(flux))
	if len(near) == 0 || len(far) == 0 {
		return math.NaN()
	}
	return median.InPlace(near) / median.InPlace(far)
}

// differences returns the absolute values of 2 f(i) - f(i-lag) - f(i+lag) of the good pixels in a range.
func differences(flux []float64, mask []bool, lag, from, to int) (d []float64) {
	good := func(i int) bool { return (mask == nil || !mask[i]) && linalg.Finite(flux[i]) }
	for i := max(from, lag); i < min(to, len(flux)-lag); i++ {
		if good(i-lag) && good(i) && good(i+lag) {
			d = append(d, math.Abs(2*flux[i]-flux[i-lag]-flux[i+lag]))
		}
	}
	return d
}

// exchanged reports whether fluxes look like the errors of what is given as their errors: they are above 0 and far below these, which scatter
// by as much as the fluxes say. Spectra that are all noise have fluxes below 0, and smooth errors.
func exchanged(flux, sigma []float64) bool {
	n := len(flux)
	if n < leastScatter || len(sigma) != n || slices.ContainsFunc(flux, func(f float64) bool { return !(f > 0) || math.IsInf(f, 1) }) {
		return false
	}
	ratio := make([]float64, n)
	for i, f := range flux {
		ratio[i] = sigma[i] / f
	}
	if !(median.InPlace(ratio) > 5) {
		return false
	}
	d := differences(sigma, nil, 1, 0, n)
	for i := range d {
		d[i] *= 1.482602 / math.Sqrt(6)
	}
	if len(d) < leastScatter {
		return false
	}
	times := median.InPlace(d) / median.InPlace(slices.Clone(flux))
	return times > 0.3 && times < 3
}

// scatter returns the standard deviation of the noise of each pixel: the median absolute value of 2 f(i) - f(i-2) - f(i+2) over blocks
// of pixels, times 1.482602/sqrt(6), and on a line from the middle of each block to the next. Spectra that rise or fall do not count as
// noise then. It returns nil if some block does not scatter.
//
// Reference: Stoehr et al., DER_SNR, ADASS XVII, ASP Conference Series 394, 505 (2008).
func scatter(flux []float64, mask []bool) []float64 {
	n := len(flux)
	var middle, level []float64
	blocks := max(1, n/block)
	for b := range blocks {
		from, to := b*n/blocks, (b+1)*n/blocks
		d := differences(flux, mask, 2, from, to)
		if len(d) < leastScatter {
			continue
		}
		sd := median.InPlace(d) * 1.482602 / math.Sqrt(6)
		if !(sd > 0) || !linalg.Finite(1/(sd*sd)) {
			return nil
		}
		middle, level = append(middle, float64(from+to-1)/2), append(level, sd)
	}
	if middle == nil {
		return nil
	}
	out := make([]float64, n)
	k := 0
	for i := range out {
		for k+1 < len(middle)-1 && float64(i) > middle[k+1] {
			k++
		}
		out[i] = level[min(k, len(level)-1)]
		if k+1 < len(middle) {
			at := min(1, max(0, (float64(i)-middle[k])/(middle[k+1]-middle[k])))
			out[i] += at * (level[k+1] - level[k])
		}
	}
	return out
}
