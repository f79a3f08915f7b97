// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/internal/median"
)

// Raw is the spectrum of one arm as stored in a file.
type Raw struct {
	Name       string    // setup of the library, such as desi_b
	Wave       []float64 // vacuum wavelengths in Angstrom, increasing
	Flux       []float64
	IVar       []float64 // inverse variance of Flux
	Mask       []bool    // flags of the pixels that are marked as bad; nil for none
	Resolution []float64 // resolution matrix as DESI stores it, with Diagonals rows for each pixel; nil for none
	Diagonals  int
	Estimated  bool     // true if IVar was estimated from how Flux scatters
	Notes      []string // sentences on how the columns of a plain file were read
}

// Arm is a spectrum ready to be fitted. Bad pixels are not removed: they have large errors, and no
// reported chi-square includes them.
type Arm struct {
	Name       string
	Wave       []float64 // vacuum wavelengths in Angstrom
	Flux       []float64
	Err        []float64 // standard deviations of Flux
	Bad        []bool
	Resolution []float64 // resolution matrix, as in Raw
	Diagonals  int
	// Unusable counts the bad pixels that no mask marks: those whose flux is not finite, or whose inverse variance is no
	// finite number above 0.
	Unusable int
}

// Preparation says how to find and treat bad pixels. The zero value suits spectra of any survey.
type Preparation struct {
	// Dichroic marks 4300 to 4450 Angstrom, where DESI's dichroic reflects.
	Dichroic  bool
	Edges     int     // number of pixels to mark at both ends, where resolution matrices are wrong; 5 for DESI
	BadError  float64 // error of bad pixels in units of the median flux; default 1000
	LeastNear float64 // smallest error of a pixel in units of the median error; default 0.3, NoFloor for none
}

// NoFloor is the value of Preparation.LeastNear that leaves small errors as they are.
const NoFloor = -1

// Prepare returns the spectrum with its bad pixels marked: those that are masked, not finite, without a
// positive inverse variance, in the dichroic or at the edges. It interpolates the flux linearly over
// them, except over those that are merely in the dichroic or at the edges. It returns nil if the
// spectrum cannot be used because all pixels are masked or the median flux is zero or not a number.
func Prepare(r *Raw, p Preparation) *Arm {
	n := len(r.Wave)
	a := &Arm{Name: r.Name, Wave: r.Wave, Err: make([]float64, n), Bad: make([]bool, n), Resolution: r.Resolution, Diagonals: r.Diagonals}
	masked := func(i int) bool { return r.Mask != nil && r.Mask[i] }
	level, ok := typical(r, masked)
	if !ok {
		return nil
	}
	if p.BadError == 0 {
		p.BadError = 1000
	}
	if p.LeastNear == 0 {
		p.LeastNear = 0.3
	}
	bridge := make([]bool, n)
	good := make([]float64, 0, n)
	for i := range n {
		bridge[i] = masked(i) || r.unusable(i)
		if bridge[i] && !masked(i) {
			a.Unusable++
		}
		a.Bad[i] = bridge[i] || p.Dichroic && r.Wave[i] > 4300 && r.Wave[i] < 4450 || i < p.Edges || i >= n-p.Edges
		if a.Bad[i] {
			a.Err[i] = math.Abs(level) * p.BadError
			continue
		}
		a.Err[i] = 1 / math.Sqrt(r.IVar[i])
		good = append(good, a.Err[i])
	}
	a.Flux = Bridge(r.Flux, bridge)
	if len(good) == 0 {
		return a
	}
	least := median.InPlace(good) * p.LeastNear
	for i := range a.Err {
		if !a.Bad[i] {
			a.Err[i] = max(a.Err[i], least)
		}
	}
	return a
}

// unusable reports whether the numbers of a pixel are none that a fit can use, whatever the mask says.
func (r *Raw) unusable(i int) bool { return !linalg.Finite(r.Flux[i]+r.IVar[i]) || r.IVar[i] <= 0 }

// typical returns the median flux, or where that is 0 the median of the positive pixels that are not
// masked or of the absolute values, and whether the spectrum can be used.
func typical(r *Raw, masked func(i int) bool) (float64, bool) {
	all := len(r.Wave) > 0
	known := make([]float64, 0, len(r.Flux))
	for i, x := range r.Flux {
		all = all && masked(i)
		if !math.IsNaN(x) {
			known = append(known, x)
		}
	}
	if all {
		return 0, false
	}
	level := median.InPlace(known)
	if level != 0 {
		return level, linalg.Finite(level)
	}
	var positive []float64
	for i, x := range r.Flux {
		if x > 0 && !masked(i) {
			positive = append(positive, x)
		}
	}
	if level = median.InPlace(positive); !linalg.Finite(level) {
		for i, x := range known {
			known[i] = math.Abs(x)
		}
		level = median.InPlace(known)
	}
	return level, linalg.Finite(level) && level != 0
}

// Bridge returns the flux with marked pixels replaced: by linear interpolation between the neighbours
// of a run or, at the ends, by the only neighbour. If all pixels are marked, it returns the flux as it
// is.
func Bridge(flux []float64, mark []bool) []float64 {
	out := slices.Clone(flux)
	n := len(flux)
	for i := 0; i < n; i++ {
		if !mark[i] {
			continue
		}
		end := i
		for end < n && mark[end] {
			end++
		}
		lo, hi := i-1, end
		for k := i; k < end; k++ {
			switch {
			case lo < 0 && hi >= n:
			case lo < 0:
				out[k] = flux[hi]
			case hi >= n:
				out[k] = flux[lo]
			default:
				out[k] = flux[lo] + (flux[hi]-flux[lo])/float64(hi-lo)*float64(k-lo)
			}
		}
		i = end
	}
	return out
}

// SignalToNoise returns the median over good pixels of the flux times the square root of the inverse
// variance. It returns -1e9 if there are no good pixels.
func (r *Raw) SignalToNoise() float64 {
	v := make([]float64, 0, len(r.Flux))
	for i := range r.Flux {
		if x := r.Flux[i] * math.Sqrt(r.IVar[i]); r.IVar[i] > 0 && !(r.Mask != nil && r.Mask[i]) && !math.IsNaN(x) {
			v = append(v, x)
		}
	}
	if m := median.InPlace(v); linalg.Finite(m) {
		return m
	}
	return -1e9
}
