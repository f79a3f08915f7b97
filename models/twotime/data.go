// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// Data holds measured two-time correlations: for each angle of the setup a matrix (frames, frames),
// row-major, of which the pairs i < j are used. Entries that are not finite, and those whose standard deviation is not a number above 0, are left
// out; the verdict counts the latter, except for those of an infinite one.
type Data struct {
	Setup transport.Setup
	C2    [][]float64
	Sigma [][]float64 // standard deviations of the entries; nil for 1 everywhere
	Noise []Noise     // noise of each angle; nil if it is to be estimated from the data
	// Lost is the share of the photons that the detector misses at the mean counts of each angle, as its counts tell (see correlate.PhotonNoise). The
	// verdict says what that does to the parameters. Default nil, for unknown.
	Lost []float64
	// Blind is the share by which products of the counts of a pixel in neighbouring frames are smaller than those of independent frames, at each
	// angle. The verdict names it. Default nil, for unknown.
	Blind []float64
	// Readings is what the readings of the frames say against the data, such as those of cosmic rays; the verdict repeats it. Default nil, for nothing.
	Readings []check.Flag
	Band     int // distance from the diagonal up to which entries are left out besides it. Default 0
	// Precision is the number of bits of the pairs, 64 or 32, when a posterior is sampled; sums
	// over them have 64. 0 stands for 64. 32 takes half the memory and two thirds of the time, and
	// moves parameters by some 1e-4 of their errors. Fits always use 64, because curvatures are
	// differences of products.
	Precision int
}

// check returns what is wrong with the data.
func (d *Data) check() error {
	if err := d.Setup.Check(); err != nil {
		return err
	}
	n, angles := len(d.Setup.Times), len(d.Setup.Angles)
	if len(d.C2) != angles || d.Sigma != nil && len(d.Sigma) != angles {
		return fmt.Errorf("twotime: there are %d matrices and %d of their errors for %s: give one for each angle", len(d.C2), len(d.Sigma), errtext.Count(angles, "angle"))
	}
	if d.Precision == 0 {
		d.Precision = 64
	}
	if d.Precision != 32 && d.Precision != 64 {
		return fmt.Errorf("twotime: the precision is %d bits: want 64 or 32", d.Precision)
	}
	if d.Lost != nil && len(d.Lost) != angles || slices.ContainsFunc(d.Lost, func(v float64) bool { return !(v >= 0 && v < 1) }) {
		return fmt.Errorf("twotime: the shares of photons that the detector misses are %v: want one from 0 to below 1 for each of %s", d.Lost, errtext.Count(angles, "angle"))
	}
	if d.Band < 0 || d.Band > n-2 {
		return fmt.Errorf("twotime: the band beside the diagonal is %d of %s: want 0 to %d", d.Band, errtext.Count(n, "frame"), n-2)
	}
	for k := range d.C2 {
		if len(d.C2[k]) != n*n || d.Sigma != nil && len(d.Sigma[k]) != n*n {
			return fmt.Errorf("twotime: the matrix of angle %d has %d entries: want %d x %d", k, len(d.C2[k]), n, n)
		}
	}
	if d.Points() == 0 {
		return errors.New("twotime: no entry is both finite and has an error above 0: check the correlations and their errors")
	}
	for k := range d.C2 {
		if v := d.largest(k); v > mostC2 {
			return fmt.Errorf("twotime: c2 reaches %g at angle %d (%g degrees): want correlations that are 1 where nothing is correlated; mask what is damaged", v, k, d.Setup.Angles[k])
		}
		switch v, count := d.onlyValue(k); {
		case count == 1:
			return fmt.Errorf("twotime: only one pair of frames of angle %d (%g degrees) is used, but contrast and offset alone need two: leave the angle out, or use more frames and a narrower band", k, d.Setup.Angles[k])
		case count > 1:
			return fmt.Errorf("twotime: c2 is %g at all pairs of angle %d (%g degrees), so nothing moves there or nothing was measured: leave it out", v, k, d.Setup.Angles[k])
		}
	}
	return nil
}

// mostC2 is the largest size of c2 that is taken for one: sums of its fourth powers are finite.
const mostC2 = 1e50

// largest returns the largest size of an entry of an angle that is used.
func (d *Data) largest(angle int) (most float64) {
	n := len(d.Setup.Times)
	for i := range n {
		for j := i + 1; j < n; j++ {
			if d.weight(angle, i, j) > 0 {
				most = max(most, math.Abs(d.C2[angle][i*n+j]))
			}
		}
	}
	return most
}

// onlyValue returns the value of all entries of an angle that are used and their number, 0 if they differ.
func (d *Data) onlyValue(angle int) (value float64, count int) {
	n := len(d.Setup.Times)
	for i := range n {
		for j := i + 1; j < n; j++ {
			if d.weight(angle, i, j) == 0 {
				continue
			}
			v := d.C2[angle][i*n+j]
			if count > 0 && v != value {
				return 0, 0
			}
			value, count = v, count+1
		}
	}
	return value, count
}

// weight returns the weight of an entry, 0 if it is not used.
func (d *Data) weight(angle, i, j int) float64 {
	n := len(d.Setup.Times)
	if j-i <= d.Band {
		return 0
	}
	at := i*n + j
	sigma := 1.0
	if d.Sigma != nil {
		sigma = d.Sigma[angle][at]
	}
	if v := d.C2[angle][at]; math.IsNaN(v) || math.IsInf(v, 0) || !(sigma > 0) || math.IsInf(sigma, 1) {
		return 0
	}
	return 1 / sigma
}

// withoutError says how many entries are left out because their standard deviation is 0, negative or not a number. One that is infinite asks for it.
func (d *Data) withoutError() []check.Alteration {
	if d.Sigma == nil {
		return nil
	}
	n, left, all := len(d.Setup.Times), 0, 0
	for k := range d.C2 {
		for i := range n {
			for j := i + 1 + d.Band; j < n; j++ {
				v, sigma := d.C2[k][i*n+j], d.Sigma[k][i*n+j]
				if math.IsNaN(v) || math.IsInf(v, 0) {
					continue
				}
				if all++; !(sigma > 0) {
					left++
				}
			}
		}
	}
	if left == 0 {
		return nil
	}
	const few = 50 // of so many entries one may be without an error
	return []check.Alteration{{Kind: "zero errors", Count: left, Note: few*left <= all,
		Text:   fmt.Sprintf("%d of %s of c2 %s left out, because their standard deviations are 0, negative or not numbers", left, errtext.Count(all, "pair"), errtext.Agree(left, "was", "were")),
		Remedy: "give these entries their standard deviations, or infinite ones to leave them out"}}
}

// Points returns the number of entries that are used.
func (d *Data) Points() (count int) {
	n := len(d.Setup.Times)
	for k := range d.C2 {
		for i := range n {
			for j := i + 1; j < n; j++ {
				if d.weight(k, i, j) > 0 {
					count++
				}
			}
		}
	}
	return count
}
