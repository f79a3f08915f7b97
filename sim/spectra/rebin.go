// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"sort"

	"github.com/euryale-dev/euryale/internal/unit"
)

// Air returns the wavelength in air of a wavelength in vacuum, both in Angstrom, as the reference converts it.
func Air(vacuum float64) float64 { return unit.Air(vacuum) }

// Vacuum returns the wavelength in vacuum, in Angstrom, that Air converts to air.
func Vacuum(air float64) float64 { return unit.Vacuum(air) }

// NativePower is the default resolving power of library spectra.
const NativePower = 100000

// LineSpread gives the resolution to Rebin.
type LineSpread struct {
	// Power is the resolving power lambda/FWHM of the result at wavelength lam (Angstrom).
	Power func(lam float64) float64
	// Native is the resolving power of the input. Default NativePower.
	Native float64
}

// Rebin brings a spectrum to the pixels out (Angstrom): the flux, linear between its samples at ascending wavelengths
// in, is convolved with the Gaussian that takes it from the native to the wanted resolution at each pixel, and
// averaged over the pixel, whose edges are halfway to its neighbours. Samples more than 5 sigma away do not count. To
// weight by photons, multiply flux by the wavelength and divide the result by it.
func Rebin(out, in, flux []float64, spread LineSpread) ([]float64, error) {
	if len(in) != len(flux) {
		return nil, fmt.Errorf("spectra: there are %d samples, but %d wavelengths: want as many", len(flux), len(in))
	}
	r, err := NewRebinning(out, in, spread)
	if err != nil {
		return nil, err
	}
	result := make([]float64, len(out))
	r.Apply(result, flux)
	return result, nil
}

// Rebinning holds the weights of Rebin for many spectra at the same wavelengths: 8 bytes for each sample within 5
// sigma of a pixel. It is safe for concurrent use.
type Rebinning struct {
	samples int
	from    []int     // first sample of each pixel
	start   []int     // position of its weights; one more than there are pixels
	weights []float64 // of the samples from there on
}

// NewRebinning computes the weights for pixels out and samples at in, as Rebin has them. It returns a *GridError for
// wavelengths that do not ascend, and a *CoverageError if the samples do not reach all pixels.
func NewRebinning(out, in []float64, spread LineSpread) (*Rebinning, error) {
	if len(in) < 2 || len(out) < 2 {
		return nil, fmt.Errorf("spectra: there are %d samples for %d pixels: want at least 2 of each", len(in), len(out))
	}
	for i := 1; i < len(in); i++ {
		if !(in[i] > in[i-1]) {
			return nil, &GridError{Index: i}
		}
	}
	if spread.Native == 0 {
		spread.Native = NativePower
	}
	r := &Rebinning{samples: len(in), start: []int{0}}
	for i, lam := range out {
		power := spread.Power(lam)
		if !(power > 0 && power < spread.Native) {
			return nil, fmt.Errorf("spectra: the resolving power is %g at %g Angstrom: want more than 0 and less than the %g of the input", power, lam, spread.Native)
		}
		a, b := lam/power, lam/spread.Native
		sigma := math.Sqrt(a*a-b*b) / (2 * math.Sqrt(2*math.Ln2))
		lo, hi := pixelEdges(out, i)
		if !(hi > lo) {
			return nil, &GridError{Index: i}
		}
		from := sort.SearchFloat64s(in, lam-5*sigma) - 1
		to := sort.SearchFloat64s(in, lam+5*sigma) + 1
		if from < 0 || to >= len(in) {
			return nil, &CoverageError{First: in[0], Last: in[len(in)-1], NeedFirst: lam - 5*sigma, NeedLast: lam + 5*sigma, Point: i}
		}
		r.weights = append(r.weights, pixelWeights(in[from:to+1], lo, hi, sigma)...)
		r.from, r.start = append(r.from, from), append(r.start, len(r.weights))
	}
	return r, nil
}

// Range returns the samples that have weights: from first up to but not including last.
func (r *Rebinning) Range() (first, last int) {
	first = r.samples
	for i, from := range r.from {
		first, last = min(first, from), max(last, from+r.start[i+1]-r.start[i])
	}
	return first, last
}

// Apply rebins flux, one number for each sample, into dst, one number for each pixel.
func (r *Rebinning) Apply(dst, flux []float64) {
	if len(flux) != r.samples || len(dst) != len(r.from) {
		panic(fmt.Sprintf("spectra: there are %d samples and %d pixels: want %d and %d", len(flux), len(dst), r.samples, len(r.from)))
	}
	for i, from := range r.from {
		w := r.weights[r.start[i]:r.start[i+1]]
		near := flux[from : from+len(w)]
		sum := 0.0
		for k, v := range w {
			sum += v * near[k]
		}
		dst[i] = sum
	}
}

func pixelEdges(x []float64, i int) (lo, hi float64) {
	n := len(x)
	half := func(k int) float64 { k = min(max(k, 0), n-2); return (x[k+1] - x[k]) / 2 }
	return x[i] - half(i-1), x[i] + half(i)
}

// pixelWeights returns the weights of samples at in, linear in between, in their Gaussian mean over the pixel lo..hi:
// the integrals over each interval of its two linear functions times the part of a line at u that falls into the
// pixel, P((hi-u)/sigma) - P((lo-u)/sigma), where P is the normal distribution function.
func pixelWeights(in []float64, lo, hi, sigma float64) []float64 {
	w := make([]float64, len(in))
	scale := sigma / (hi - lo)
	for k := range len(in) - 1 {
		var zero, one float64 // moments of s = (edge-u)/sigma, between the ends of the interval
		h := (in[k+1] - in[k]) / sigma
		for e, edge := range []float64{hi, lo} {
			s0, s1 := (edge-in[k])/sigma, (edge-in[k+1])/sigma
			sign := float64(1 - 2*e)
			m0 := sign * (normalMoment0(s0) - normalMoment0(s1))
			m1 := sign * (normalMoment1(s0) - normalMoment1(s1))
			zero += m0
			one += s0*m0 - m1 // of (u - in[k])/sigma
		}
		w[k+1] += scale * one / h
		w[k] += scale * (zero - one/h)
	}
	return w
}

func normalCDF(s float64) float64 { return math.Erfc(-s/math.Sqrt2) / 2 }

func normalPDF(s float64) float64 { return math.Exp(-s*s/2) / math.Sqrt(2*math.Pi) }

// normalMoment0 is an integral of P.
func normalMoment0(s float64) float64 { return s*normalCDF(s) + normalPDF(s) }

// normalMoment1 is an integral of s P.
func normalMoment1(s float64) float64 { return ((s*s-1)*normalCDF(s) + s*normalPDF(s)) / 2 }
