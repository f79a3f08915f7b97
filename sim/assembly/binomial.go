// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"math"
	"slices"
	"sort"
)

// binomial is the distribution of the input of a neuron that never fired: of n firing neurons, how many
// connect to it.
type binomial struct {
	from int       // value that tail[0] belongs to
	tail []float64 // P(X > from + i) for each i, down to 1e-300
}

func newBinomial(n int, p float64) *binomial { return fromMasses(masses(n, p)) }

// masses returns the probabilities of from, from+1, ... Their sum is 1, except that less than 1e-20
// may be missing below the mode.
func masses(n int, p float64) (from int, mass []float64) {
	switch {
	case p <= 0 || n == 0:
		return 0, []float64{1}
	case p >= 1:
		return n, []float64{1}
	}
	mode := min(int(float64(n+1)*p), n)
	ratio := p / (1 - p)
	var down []float64 // probabilities below the mode, over that of the mode
	for k, w := mode, 1.0; k > 0; k-- {
		if w *= float64(k) / float64(n-k+1) / ratio; w < 1e-20 {
			break
		}
		down = append(down, w)
	}
	slices.Reverse(down)
	from, mass = mode-len(down), append(down, 1)
	for k, w := mode, 1.0; k < n; k++ {
		if w *= float64(n-k) / float64(k+1) * ratio; w < 1e-310 {
			break
		}
		mass = append(mass, w)
	}
	sum := 0.0
	for i := len(mass) - 1; i >= 0; i-- {
		sum += mass[i]
	}
	for i := range mass {
		mass[i] /= sum
	}
	return from, mass
}

// fromMasses makes a distribution of the probabilities of from, from+1, ...
func fromMasses(from int, mass []float64) *binomial {
	b := &binomial{from: from, tail: make([]float64, len(mass))}
	sum := 0.0
	for i := len(mass) - 1; i >= 0; i-- { // small terms first
		b.tail[i] = sum
		sum += mass[i]
	}
	return b
}

// quantile returns the smallest value that is exceeded with probability at most s.
func (b *binomial) quantile(s float64) int {
	return b.from + min(sort.Search(len(b.tail), func(i int) bool { return b.tail[i] <= s }), len(b.tail)-1)
}

// order draws the order statistics of n independent draws, one after another: the largest, the
// second largest and so on. U_1 = V_1^(1/n), U_(i+1) = U_i V_i^(1/(n-i)) are the largest uniforms.
//
// Reference: Devroye, Non-Uniform Random Variate Generation (1986), section V.3.
type order struct {
	distribution *binomial
	left         int // number of draws not yet given
	log          float64
	at           int // index of the last draw in the tail
}

// next returns the next draw, from a uniform number v; false when none is left.
func (o *order) next(v float64) (int, bool) {
	if o.left == 0 {
		return 0, false
	}
	o.log += math.Log(v) / float64(o.left)
	o.left--
	d, s := o.distribution, -math.Expm1(o.log)
	if last := len(d.tail) - 1; o.at == 0 {
		o.at = d.quantile(s) - d.from
	} else { // the next draw is hardly ever far below
		for o.at > 0 && d.tail[o.at-1] <= s {
			o.at--
		}
		for o.at < last && d.tail[o.at] > s {
			o.at++
		}
	}
	return d.from + o.at, true
}

// nextRanked returns the next draw and its rank among equals: a uniform number between the ranks of its neighbours.
func (o *order) nextRanked(v float64) (m int, rank float64, ok bool) {
	m, ok = o.next(v)
	s, d := -math.Expm1(o.log), o.distribution
	over := d.exceeds(m)
	return m, max(0, min((s-over)/(d.exceeds(m-1)-over), 1)), ok
}

// startBelow leaves out the draws that come before a point which a draw precedes with probability s. Their number is
// taken to be its mean.
func (o *order) startBelow(s float64) {
	o.log = math.Log1p(-s)
	o.left -= int(math.Round(s * float64(o.left)))
}
