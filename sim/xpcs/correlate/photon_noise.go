// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"math"
	"slices"
)

// PhotonNoise says how much the counts of the pixels of a dynamic bin scatter from one frame to the next, over what photons of
// Poisson's distribution would. Speckles that move scatter more, and so do values that are multiples of counts. If the noise is
// lower, or the lower the more counts there are, the detector misses counts that follow others: it has a dead time.
type PhotonNoise struct {
	Bin  int     // number of the bin, from 1
	Mean float64 // mean counts of a pixel in a frame

	Ratio, RatioErr float64 // noise over Poisson's, and its standard error; NaN if too few pixels count twice
	// DeadTime is the time after a count in which the next one is missed, in exposure times of a frame: a pixel with n counts has missed a
	// share DeadTime n of the photons, and its noise is about (1 - DeadTime n)^2 of Poisson's. It is 0 unless noise is lower than that of photons
	// beyond chance.
	DeadTime float64

	// Noise over Poisson's of the pixels with a number of counts in a frame, with standard errors, at up to two numbers of counts for each
	// doubling.
	Counts, ByCounts, ByCountsErr []float64

	// Adjacent is the products of the counts of a pixel in neighbouring frames over those in frames at any distance, and AdjacentErr its standard
	// error; NaN if there are too few counts. It is 1 where counts are independent and above where speckles last. A detector that is blind after a count
	// for the rest of a frame and more lowers it.
	Adjacent, AdjacentErr float64
	// Limit is the largest reading of all bins if it is the limit of the counter, which many pixels have and none exceeds, and AtLimit the share of the
	// readings of the bin that have it. They are 0 otherwise, and where AtLimit is below 0.001. Where only 0 and 1 were read, and too few pixels count in
	// both of two frames, Limit is 1 and DeadTime is given as well: a counter of one bit cannot be told from a dead time.
	Limit, AtLimit float64
	// Gap is a number that shows that the readings of all bins are no counts of photons. There is no dead time then.
	Gap Gap
	// Factor is a factor below 1 by which counts of photons seem to be multiplied, where their noise is lower than Poisson's at all counts. It is 0 otherwise.
	// There is no dead time then.
	Factor float64
	// Stuck lists the pixels, as row * width + column, whose numbers scatter far less than those of photons. They are not taken into the noise.
	Stuck []int

	level, slope score
}

// leastLost is the share of photons below which missing ones are not told: it moves nothing.
const leastLost = 1e-3

// belowPoisson is the number of standard errors from which noise is called lower than Poisson's.
const belowPoisson = 5

// score is an estimate with its standard error.
type score struct{ value, err float64 }

// pooled adds estimates of the same number by their weights.
func pooled(all []score) (sum score) {
	weight := 0.
	for _, s := range all {
		if w := 1 / (s.err * s.err); w > 0 && !math.IsInf(w, 0) {
			sum.value, weight = sum.value+w*s.value, weight+w
		}
	}
	return score{sum.value / weight, 1 / math.Sqrt(weight)}
}

// below reports whether an estimate is below a number beyond chance.
func (s score) below(v float64) bool { return v-s.value > belowPoisson*s.err }

// done returns the noise of each bin that has pixels; nil if the values are no counts. flat is a frame that is no light, or nil.
func (v *photons) done(flat *Flat) (all []PhotonNoise) {
	if v.fractions || v.looked == 0 {
		return nil
	}
	var levels, slopes []score
	stuck := v.stuck()
	adjacent := v.adjacent(stuck)
	v.together(stuck)
	limit, full := v.limit(stuck)
	gap := v.gap(stuck, flat)
	for b, pixels := range v.pixels {
		if pixels == 0 {
			continue
		}
		n := noiseOf(v.sums[b*photonGroups : (b+1)*photonGroups])
		n.Bin, n.Mean = b+1, v.counts[b]/(float64(v.looked)*float64(pixels))
		n.Adjacent, n.AdjacentErr, n.Stuck = adjacent[b].value, adjacent[b].err, stuck[b]
		if n.Gap = gap; limit > 0 {
			if share := full[b] / (float64(v.looked) * float64(pixels)); share > leastFull {
				n.Limit, n.AtLimit = limit, share
			}
		}
		if all = append(all, n); n.Limit == 0 {
			levels, slopes = append(levels, n.level), append(slopes, n.slope)
		}
	}
	everywhere := missed(pooled(levels), pooled(slopes))
	for i := range all {
		n := &all[i]
		if n.Limit > 0 || n.Gap.Reading > 0 { // which scatter less than photons as well
			continue
		}
		if everywhere || missed(n.level, n.slope) {
			if d := n.missing(); d*n.Mean > leastLost {
				if n.DeadTime = d; v.binary() {
					n.Limit, n.AtLimit = 1, n.Mean
				}
			}
		}
	}
	return all
}

// limit returns the limit of the counter, 0 if none is seen, and the readings of each bin that have it. Pixels that always have it are not stuck, and
// leave the list.
func (v *photons) limit(stuck [][]int) (limit float64, at []float64) {
	out := setOf(stuck)
	r := v.numbers
	r.often[0] = 0
	for _, n := range v.pixels {
		r.often[0] += float64(v.looked) * float64(n)
	}
	for _, n := range r.often[1:] {
		r.often[0] -= n
	}
	if limit = r.limit(func(p int) bool { return v.code[p] >= 0 && !out[p] }); limit == 0 {
		return 0, nil
	}
	at = make([]float64, v.bins)
	for p, code := range v.code {
		if code >= 0 && float64(r.largest[p]) == limit {
			at[code/photonGroups] += float64(r.times[p])
		}
	}
	for b := range stuck {
		stuck[b] = slices.DeleteFunc(stuck[b], func(p int) bool { return float64(r.largest[p]) == limit })
	}
	return limit, at
}

// binary reports whether only 0 and 1 were read.
func (v *photons) binary() bool {
	for p, x := range v.numbers.largest {
		if x > 1 && v.code[p] >= 0 {
			return false
		}
	}
	return true
}

// gap returns a number that shows that readings are no counts of photons. Pixels that are stuck have gaps around them, as have those that have their
// largest reading many times, and a flat frame.
func (v *photons) gap(stuck [][]int, flat *Flat) Gap {
	alone := v.numbers.alone()
	return v.numbers.gap(func(n float64) bool {
		if flat != nil && n == flat.Counts || n < float64(len(alone)) && alone[int(n)] {
			return true
		}
		for _, of := range stuck {
			for _, p := range of {
				if mean := v.each.sum[p] / float64(v.looked); math.Abs(mean-n) < 4*math.Sqrt(mean+1) {
					return true
				}
			}
		}
		return false
	})
}

// missed reports whether noise is lower than that of photons in a way that counts that are missed make: it falls with the counts, or is too low and
// does not rise with them, as it does where counts are on top of something else.
func missed(level, slope score) bool {
	return slope.below(0) || level.below(1) && !(slope.value > 2*slope.err)
}

// noiseOf returns the noise of a bin from the sums of groups of its pixels, by classes of counts.
func noiseOf(groups [][]photonSum) (n PhotonNoise) {
	var level, slope grouped
	classes := 0
	for _, of := range groups {
		var all photonSum
		for _, s := range of {
			all.add(s)
		}
		var a, b [3]float64 // sum, weight and variance of sums of photons
		for _, s := range of {
			if s.pairs > 0 {
				x, variance := s.counts/s.pairs-all.counts/all.pairs, s.pairs*(2-s.pairs/s.counts)
				a[0], a[1], a[2] = a[0]+s.squares, a[1]+s.pairs, a[2]+variance
				b[0], b[1], b[2] = b[0]+x*s.squares, b[1]+x*x*s.pairs, b[2]+x*x*variance
			}
		}
		level.add(a)
		slope.add(b)
		classes = max(classes, len(of))
	}
	n.level, n.slope = level.ratio(), slope.ratio()
	n.Ratio, n.RatioErr = n.level.value, n.level.err
	for c := range classes {
		var class grouped
		counts := 0.
		for _, of := range groups {
			if c < len(of) {
				class.add([3]float64{of[c].squares, of[c].pairs, of[c].pairs})
				counts += of[c].counts
			}
		}
		if r := class.ratio(); !math.IsNaN(r.err) {
			n.Counts, n.ByCounts, n.ByCountsErr = append(n.Counts, counts/class.weight()), append(n.ByCounts, r.value), append(n.ByCountsErr, r.err)
		}
	}
	return n
}

// missing returns the dead time d with which the noise is nearest to m^2 + a m^3 + b n m^2, m = 1 - d n, in which a and b are what speckles add that
// move little and much between frames. It is 0 if the values are no counts of photons, if the noise is nearer to that of an amplifier, a + b/n, which falls with the counts as well, and if it is
// nearer to that of counts times a factor, which is kept.
func (n *PhotonNoise) missing() float64 {
	if len(n.Counts) == 0 || n.multiples() {
		return 0
	}
	most := n.Counts[len(n.Counts)-1]
	best, least := 0., math.Inf(1)
	for d := 2 / most; d > 1e-4/most; d *= 0.98 {
		s := n.squares(func(x float64) (known, first, second float64) {
			m := max(0, 1-d*x)
			return m * m, m * m * m, x * m * m
		})
		if s < least {
			best, least = d, s
		}
	}
	for gain := 1.; gain < 100; gain *= 1.02 {
		if n.squares(func(x float64) (known, first, second float64) { return gain, 1 / x, 0 }) < least {
			return 0
		}
	}
	for factor := 0.98; factor > 0.02; factor *= 0.98 { // speckles add what grows with counts, and rounding what falls
		if n.squares(func(x float64) (known, first, second float64) { return factor, x, 1 / x })+secondTerm < least {
			n.Factor = factor
			return 0
		}
	}
	return best
}

// multiples reports whether the values are no counts of photons: where two or more photons come, speckles that forget themselves between frames
// raise the noise by a third for each further one, and few scatter more than that.
func (n *PhotonNoise) multiples() bool {
	const few = 4
	for i, x := range n.Counts {
		if x < few && n.ByCounts[i]-belowPoisson*n.ByCountsErr[i] > 1+(2*x-1)/3 {
			return true
		}
	}
	return false
}

// secondTerm is what squares have to fall by for a second term.
const secondTerm = 9

// squares returns the least squares of the noise, in standard errors, about known + a first + b second, with a and b of
// at least 0. A second term that is not needed would pass for a dead time, so it counts.
func (n *PhotonNoise) squares(terms func(x float64) (known, first, second float64)) float64 {
	var aa, ab, bb, ay, by, yy float64
	for i, x := range n.Counts {
		known, a, b := terms(x)
		y, w := n.ByCounts[i]-known, 1/(n.ByCountsErr[i]*n.ByCountsErr[i])
		aa, ab, bb, ay, by, yy = aa+w*a*a, ab+w*a*b, bb+w*b*b, ay+w*a*y, by+w*b*y, yy+w*y*y
	}
	least := yy
	if ay > 0 {
		least = min(least, yy-ay*ay/aa)
	}
	if by > 0 {
		least = min(least, yy-by*by/bb+secondTerm)
	}
	if d := aa*bb - ab*ab; d > 1e-9*aa*bb {
		if a, b := (ay*bb-by*ab)/d, (by*aa-ay*ab)/d; a > 0 && b > 0 {
			least = min(least, yy-a*ay-b*by+secondTerm)
		}
	}
	return least
}

// grouped is a ratio of two sums over pixels, whose error follows from the scatter of groups of pixels, so that a single pixel, such as
// one that always has the same count, has no weight of its own. The error is at least that of photons.
type grouped struct{ of [][3]float64 }

func (r *grouped) add(sums [3]float64) {
	if sums[1] > 0 {
		r.of = append(r.of, sums)
	}
}

func (r *grouped) weight() (all float64) {
	for _, v := range r.of {
		all += v[1]
	}
	return all
}

// fewestGroups is the number of groups from which their scatter gives an error.
const fewestGroups = 8

// ratio returns the ratio with its standard error, NaN if too few groups have a weight.
func (r *grouped) ratio() score {
	groups, all := float64(len(r.of)), r.weight()
	if groups < fewestGroups {
		return score{math.NaN(), math.NaN()}
	}
	ratio, scatter, photons := 0., 0., 0.
	for _, v := range r.of {
		ratio, photons = ratio+v[0]/all, photons+v[2]/(all*all)
	}
	for _, v := range r.of {
		e := (v[0] - ratio*v[1]) / all
		scatter += e * e
	}
	return score{ratio, math.Sqrt(max(scatter*groups/(groups-1), photons))}
}
