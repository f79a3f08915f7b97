// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/median"
)

// Resolution is a banded matrix by which an instrument's line spread mixes observed pixels: row o of Band holds
// M[i, i+o-Half] at i, and elements outside the matrix are 0.
type Resolution struct {
	Half, Pixels int
	Band         []float64 // (2 Half + 1, Pixels), row-major
}

// NewResolution makes a matrix of 2*half+1 diagonals from its band.
func NewResolution(half, pixels int, band []float64) (*Resolution, error) {
	if half < 0 || pixels < 1 || len(band) != (2*half+1)*pixels {
		return nil, fmt.Errorf("spectra: the resolution matrix of half width %d and %d pixels has %d elements: want %d", half, pixels, len(band), (2*half+1)*pixels)
	}
	return &Resolution{half, pixels, band}, nil
}

// Node returns the band as a constant for autodiff.BandedMatVec.
func (r *Resolution) Node() *autodiff.Node { return autodiff.Const(r.Band, 2*r.Half+1, r.Pixels) }

// Apply returns the product with rows x. Gradient: the transposed product.
func (r *Resolution) Apply(x *autodiff.Node) *autodiff.Node {
	return autodiff.BandedMatVec(r.Node(), x, false)
}

// fwhmToSigma is the reference's number for a full width at half maximum over sigma; the exact one is 2.35482.
const fwhmToSigma = 2.35

// GaussianResolution makes the matrix of Gaussian line spreads of resolving power lambda/FWHM = power at ascending
// wavelengths lam (Angstrom). Rows are normalised to 1 after they are cut at the ends, and a FWHM counts as 2.35 sigma.
func GaussianResolution(lam []float64, power float64) (*Resolution, error) {
	if !(power > 0) {
		return nil, fmt.Errorf("spectra: the resolving power is %g: want more than 0", power)
	}
	sigma := make([]float64, len(lam))
	for i, x := range lam {
		sigma[i] = x / power / fwhmToSigma
	}
	return GaussianWidths(lam, sigma)
}

// GaussianWidths is GaussianResolution for standard deviations (Angstrom), one for each pixel or one for all.
func GaussianWidths(lam, sigma []float64) (*Resolution, error) {
	n := len(lam)
	if n == 0 || len(sigma) != n && len(sigma) != 1 {
		return nil, fmt.Errorf("spectra: there are %d line widths for %d pixels: give one, or one for each", len(sigma), n)
	}
	width := func(i int) float64 { return sigma[min(i, len(sigma)-1)] }
	half := 0
	for i, x := range lam {
		if i > 0 && !(x > lam[i-1]) {
			return nil, &GridError{Index: i}
		}
		s := width(i)
		if !(s > 0) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("spectra: line width %d is %g Angstrom: want more than 0", i, s)
		}
		i1 := sort.SearchFloat64s(lam, x-5*s)
		i2 := min(sort.Search(n, func(k int) bool { return lam[k] > x+5*s }), n-1)
		half = max(half, i2-i, i-i1)
	}
	r := &Resolution{half, n, make([]float64, (2*half+1)*n)}
	for i, x := range lam {
		sum := 0.0
		lo, hi := max(0, i-half), min(n-1, i+half)
		for j := lo; j <= hi; j++ {
			d := (lam[j] - x) / width(i)
			v := math.Exp(-d * d / 2)
			r.Band[(j-i+half)*n+i] = v
			sum += v
		}
		for j := lo; j <= hi; j++ {
			r.Band[(j-i+half)*n+i] /= sum
		}
	}
	return r, nil
}

// DESIResolution makes the matrix that brings a template, which already has Gaussian lines of sigma (Angstrom), to
// the resolution of a DESI spectrum with pixels of some size (Angstrom). fits holds the diagonals of the RESOLUTION
// image, an odd number of rows from the highest diagonal to the lowest, in which element (d, j) belongs to column j.
// Each row of the matrix is deconvolved by G x = row, G_ij being the normal density of i-j pixels; rows cut by an end
// are then scaled to the median sum of the others.
//
// As in the reference, the first rows keep before the deconvolution one element left of the first pixel, which wraps
// around to the last.
func DESIResolution(fits []float64, diagonals int, sigma, pixel float64) (*Resolution, error) {
	n := len(fits) / max(diagonals, 1)
	if diagonals < 1 || diagonals%2 == 0 || n*diagonals != len(fits) || n < 2*diagonals {
		return nil, fmt.Errorf("spectra: the DESI resolution has %d elements in %d diagonals: want an odd number of diagonals, each at least twice as long", len(fits), diagonals)
	}
	if !(sigma > 0) || !(pixel > 0) {
		return nil, fmt.Errorf("spectra: sigma is %g and the pixel %g Angstrom: want both above 0", sigma, pixel)
	}
	half := diagonals / 2
	r := &Resolution{half, n, make([]float64, len(fits))}
	g := mat.NewDense(diagonals, diagonals, nil)
	normal := distuv.Normal{Sigma: sigma / pixel}
	for i := range diagonals {
		for j := range diagonals {
			g.Set(i, j, normal.Prob(float64(i-j)))
		}
	}
	rows := mat.NewDense(diagonals, n, nil)
	for i := range n {
		for k := range diagonals {
			if j := i + k - half; j >= -1 && j < n {
				rows.Set(k, i, fits[(diagonals-1-k)*n+(j+n)%n])
			}
		}
	}
	var x mat.Dense
	var ill mat.Condition // 1e10 at usual widths, which the reference takes as it is
	if err := x.Solve(g, rows); err != nil && (!errors.As(err, &ill) || math.IsInf(float64(ill), 1)) {
		return nil, fmt.Errorf("spectra: deconvolution by sigma %g at pixels of %g Angstrom failed: %w: use a narrower Gaussian", sigma, pixel, err)
	}
	var sums []float64
	for i := range n {
		sum := 0.0
		for k := range diagonals {
			if j := i + k - half; j >= 0 && j < n {
				r.Band[k*n+i] = x.At(k, i)
				sum += x.At(k, i)
			}
		}
		if i >= half && i < n-half {
			sums = append(sums, sum)
		}
	}
	r.scaleEdges(median.Of(sums))
	return r, nil
}

// scaleEdges gives the rows that an end cuts the sum to.
func (r *Resolution) scaleEdges(to float64) {
	for i := range r.Pixels {
		if i >= r.Half && i < r.Pixels-r.Half {
			continue
		}
		sum := 0.0
		for k := range 2*r.Half + 1 {
			sum += r.Band[k*r.Pixels+i]
		}
		for k := range 2*r.Half + 1 {
			r.Band[k*r.Pixels+i] *= to / sum
		}
	}
}
