// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"fmt"
	"math"
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
	s.IVar = make([]float64, len(sd))
	for i, e := range sd {
		s.IVar[i] = 1 / (e * e)
	}
	none := "there are no errors"
	if r.unused != nil {
		none = fmt.Sprintf("there is no column of errors (not used: %s)", strings.Join(r.unused, ", "))
	}
	r.note("%s: they are estimated from how neighbouring pixels scatter, with a median signal-to-noise ratio of %.3g, and narrow lines or smoothed pixels make them wrong", none, s.SignalToNoise())
	return nil
}

// scatter returns the standard deviation of the noise of each pixel: the median absolute value of 2 f(i) - f(i-2) - f(i+2) over blocks
// of pixels, times 1.482602/sqrt(6), and on a line from the middle of each block to the next. Spectra that rise or fall do not count as
// noise then. It returns nil if some block does not scatter.
//
// Reference: Stoehr et al., DER_SNR, ADASS XVII, ASP Conference Series 394, 505 (2008).
func scatter(flux []float64, mask []bool) []float64 {
	n := len(flux)
	good := func(i int) bool { return (mask == nil || !mask[i]) && linalg.Finite(flux[i]) }
	var middle, level []float64
	blocks := max(1, n/block)
	for b := range blocks {
		var d []float64
		from, to := b*n/blocks, (b+1)*n/blocks
		for i := max(from, 2); i < min(to, n-2); i++ {
			if good(i-2) && good(i) && good(i+2) {
				d = append(d, math.Abs(2*flux[i]-flux[i-2]-flux[i+2]))
			}
		}
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
