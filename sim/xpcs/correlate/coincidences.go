// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import "math"

// coincidences is what the statistics of counts say about g2 of dynamic bins, of which each static bin with counts gives its photons of a pixel in a
// frame and its number of pixels.
//
// In a static bin of n pixels with mu photons in a frame of each, a delay with T pairs of frames, each the sum of w, expects
//
//	N = n T (w mu)^2
//
// coincidences of two photons if nothing correlates. Where photons are rare, the coincidences have Poisson's distribution, and those of different
// delays are independent. g2 of the static bin is their number, over the product of the counts c = n T w mu of the earlier and of the later frames.
// Given c photons, (c-1)/c N are expected, so that g2 has the variance (1 - 1/c)/N and is too small by 1/c. g2 of the dynamic bin is the mean over
// its static bins: its mean squared error is the sum of their variances over the square of their number, and the square of the mean of 1/c.
type coincidences map[int][]lit

const (
	fewCoincidences  = 25   // expected ones below which scatter cannot tell the error
	rarePhotons      = 0.3  // photons of a pixel in a frame, or in a sum of frames, below which coincidences have Poisson's distribution in any detector
	someCoincidences = 1000 // expected ones up to which errors are compared where photons are not rare, whose scatter dead times may lower
	farBelow         = 0.5  // variance over Poisson's that only a dead time near the interval of photons makes
	departure        = 3    // standard errors that a variance, told by as many coincidences as are expected, departs from Poisson's beyond chance
)

// coincidencesOf returns the photons of the static bins of a Result; unit is the reading of one photon.
func coincidencesOf(r *Result, maps *Maps, unit float64) coincidences {
	size, owner := make([]float64, len(r.SAXS)), make([]int, len(r.SAXS))
	for p, s := range maps.Static {
		if s > 0 && maps.Dynamic[p] > 0 {
			size[s-1]++
			owner[s-1] = int(maps.Dynamic[p])
		}
	}
	of := coincidences{}
	for s, v := range r.SAXS {
		if size[s] > 0 && v > 0 {
			of[owner[s]] = append(of[owner[s]], lit{v / unit, size[s]})
		}
	}
	return of
}

// at returns the expected coincidences of a dynamic bin in some pairs of sums over span frames: the number that makes g2 as uncertain as its static
// bins do together. variance is the mean squared error of g2, and photons the mean of a pixel in a sum; they are 0 for a bin without counts.
func (of coincidences) at(bin, pairs, span int) (number, variance, photons float64) {
	var spread, bias float64
	all := float64(len(of[bin]))
	for _, s := range of[bin] {
		mu, seen := s.sum*float64(span), s.pixels*float64(pairs)
		n, c := seen*mu*mu, max(seen*mu, 1)
		number += 1 / n
		spread, bias, photons = spread+(1-1/c)/n, bias+1/c, photons+mu/all
	}
	if all == 0 {
		return 0, 0, 0
	}
	spread, bias = spread/(all*all), bias/all
	return all * all / number, spread + bias*bias, photons
}

// believed returns a variance of g2 that its scatter gives, or that of the statistics of counts where the scatter cannot tell it: where coincidences
// are few, unless it is larger beyond chance; and where it is smaller beyond chance, which no correlation of intensities makes it.
func believed(scatter, number, variance, photons float64) (v float64, replaced bool) {
	ratio, chance := scatter/variance, departure/math.Sqrt(number)
	switch {
	case !(variance > 0):
		return scatter, false
	case number < fewCoincidences:
		return variance, !(ratio > 1+chance)
	case photons < rarePhotons && ratio < 1-chance, number < someCoincidences && ratio < farBelow:
		return variance, true
	}
	return scatter, false
}

// counted replaces errors and covariances of g2 that the scatter of pixels cannot tell by those of the statistics of counts, and fills Coincidences.
// unit is the reading of one photon in an average of frames.
func (r *Result) counted(maps *Maps, unit float64) {
	of, n := coincidencesOf(r, maps, unit), len(r.Delay)
	r.Coincidences = empty(n, len(r.Bins))
	errors := func(frames int, err, number [][]float64) {
		for k, d := range r.Delay {
			for i, bin := range r.Bins {
				pairs := frames>>d.Level - d.Lag
				if pairs < 1 {
					continue
				}
				expected, variance, photons := of.at(bin, pairs, 1<<d.Level)
				if number != nil {
					number[k][i] = expected
				}
				if v, replaced := believed(err[k][i]*err[k][i], expected, variance, photons); replaced {
					err[k][i] = math.Sqrt(v)
				}
			}
		}
	}
	errors(r.Frames, r.Err, r.Coincidences)
	for _, p := range r.Parts {
		errors(p.Frames, p.Err, nil)
	}
	for i, cov := range r.Cov {
		for k, d := range r.Delay {
			expected, variance, photons := of.at(r.Bins[i], r.Frames>>d.Level-d.Lag, 1<<d.Level)
			v, replaced := believed(cov[k*n+k], expected, variance, photons)
			if !replaced || math.IsNaN(cov[k*n+k]) {
				continue
			}
			for j := range n {
				cov[k*n+j], cov[j*n+k] = 0, 0
			}
			if cov[k*n+k] = v; r.Skew[i] != nil {
				r.Skew[i][k] = 0
			}
		}
	}
}
