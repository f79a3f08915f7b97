// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package constants

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Continuation says how beta goes on beyond a spectrum. A spectrum near an edge is best joined first to the tabulated beta of the bare
// atoms, from about 10 eV to 30 keV; what is beyond that matters little.
type Continuation struct {
	// Below and Above are exponents: beta falls with the energy as E^-Below below the first row and as E^-Above beyond the last. Default
	// 3 and 4, which those of atoms have nearly, between edges. Negative ones let it rise; NaN stands for none at all.
	Below, Above float64
	// Low is the energy in eV below which beta is 0. Default 30, where that of solids stops rising, or half of the first row if that
	// is lower.
	Low float64
}

// growth is the ratio of energies of neighbouring rows of a continuation.
const growth = 1.004

// decades is how far beyond the last row beta is continued by rows; further on the integral is that of a power.
const decades = 1000

// KramersKronig returns delta at some energies for beta at rising energies, between which beta is linear:
//
//	delta(E) = -2/pi P int e beta(e)/(e^2 - E^2) de
//
// The integrals between rows are exact. It returns an error unless the energies rise and all numbers are finite, and for an energy that is
// not above 0.
//
// Reference: B. Watts, doi:10.1364/OE.22.023628.
func KramersKronig(energies, beta, at []float64, c Continuation) ([]float64, error) {
	if err := check(energies, beta); err != nil {
		return nil, err
	}
	for i, e := range at {
		if !(e > 0) || math.IsInf(e, 0) {
			return nil, fmt.Errorf("constants: energy %d at which delta is asked for is %g eV: want one above 0", i+1, e)
		}
	}
	n := len(energies)
	e, b := c.below(energies[0], beta[0])
	e, b = append(e, energies...), append(b, beta...)
	over := cmp.Or(c.Above, 4)
	if !math.IsNaN(over) {
		if !(over > 0.5) {
			return nil, fmt.Errorf("constants: beta goes on as E^-%g beyond the last row: want a fall with an exponent above 0.5", over)
		}
		for x := energies[n-1] * growth; x < decades*energies[n-1]; x *= growth {
			e, b = append(e, x), append(b, beta[n-1]*math.Pow(x/energies[n-1], -over))
		}
	}
	out := make([]float64, len(at))
	for i, x := range at {
		sum := 0.0
		for j := range len(e) - 1 {
			sum += segment(x, e[j], e[j+1], b[j], b[j+1])
		}
		// The ends, where beta is cut off, have a logarithm of their own.
		sum += b[len(b)-1]/2*end(e[len(e)-1], x) - b[0]/2*end(e[0], x)
		if last := e[len(e)-1]; !math.IsNaN(over) && x < last/2 {
			for k := range 20 {
				sum += b[len(b)-1] * math.Pow(x/last, 2*float64(k)) / (over + 2*float64(k))
			}
			sum -= b[len(b)-1] / 2 * end(last, x) // which the continuation has not
		}
		out[i] = -2 / math.Pi * sum
	}
	return out, nil
}

// end returns ln|b - x|, 0 at x = b.
func end(b, x float64) float64 {
	if b == x {
		return 0
	}
	return math.Log(math.Abs(b - x))
}

// below returns the rows before the first one.
func (c Continuation) below(first, beta float64) (e, b []float64) {
	under := cmp.Or(c.Below, 3)
	if math.IsNaN(under) {
		return nil, nil
	}
	low := cmp.Or(c.Low, min(30, first/2))
	for x := first / growth; x > low; x /= growth {
		e, b = append(e, x), append(b, beta*math.Pow(x/first, -under))
	}
	slices.Reverse(e)
	slices.Reverse(b)
	return e, b
}

// segment integrates e beta/(e^2 - x^2) from a to b, where beta is linear, without the parts beta(x)/2 ln|e - x| at the ends: those of
// neighbours cancel where both have the same beta, and they diverge if x is a row.
//
// With beta = u + v e the integral is v (b - a) + (u + v x)/2 ln|e - x| + (u - v x)/2 ln(e + x).
func segment(x, a, b, atA, atB float64) float64 {
	v := (atB - atA) / (b - a)
	u := atA - v*a
	// ln|e - x| has the factor (u + v x)/2, and beta(e)/2 of it is taken out at either end.
	rest := func(e float64) float64 { return v * (x - e) / 2 * end(e, x) }
	return v*(b-a) + (u-v*x)/2*math.Log((b+x)/(a+x)) + rest(b) - rest(a)
}

// check returns an error unless the energies rise and all numbers are finite.
func check(energies, beta []float64) error {
	if len(energies) < 2 || len(beta) != len(energies) {
		return fmt.Errorf("constants: there are %d energies and %d values: want as many of each, at least two", len(energies), len(beta))
	}
	for i, e := range energies {
		switch {
		case !(e > 0) || math.IsInf(e, 0) || math.IsNaN(beta[i]) || math.IsInf(beta[i], 0):
			return fmt.Errorf("constants: row %d has %g at %g eV: want a finite number and an energy above 0", i+1, beta[i], e)
		case i > 0 && !(e > energies[i-1]):
			return fmt.Errorf("constants: the energies do not rise from row %d to %d: %g, %g eV: sort the rows, and keep one of those of an energy", i, i+1, energies[i-1], e)
		}
	}
	return nil
}

// Inconsistency says how far delta is from that of beta, by Kramers and Kronig.
type Inconsistency struct {
	RMS, Most float64 // root mean square and largest deviation, relative to the range of delta
	At        float64 // energy in eV of the largest
}

// Consistency compares delta with that of beta. What resonances beyond the table add is smooth there: a constant and a part that falls as
// 1/E^2 are fitted to the deviations first. The outer twentieths of the table, where its ends tell, do not count.
func Consistency(energies, delta, beta []float64, c Continuation) (Inconsistency, error) {
	if err := check(energies, delta); err != nil {
		return Inconsistency{}, err
	}
	want, err := KramersKronig(energies, beta, energies, c)
	if err != nil {
		return Inconsistency{}, err
	}
	n := len(energies)
	cut := n / 20
	if n-2*cut < 3 {
		return Inconsistency{}, fmt.Errorf("constants: the table has %d rows: want at least 3 to compare delta with beta", n)
	}
	e, off := energies[cut:n-cut], make([]float64, n-2*cut)
	for i := range off {
		off[i] = delta[cut+i] - want[cut+i]
	}
	remove(e, off)
	span := slices.Max(delta) - slices.Min(delta)
	if span == 0 {
		span = 1
	}
	var out Inconsistency
	for i, d := range off {
		out.RMS += d * d / float64(len(off))
		if a := math.Abs(d) / span; a > out.Most {
			out.Most, out.At = a, e[i]
		}
	}
	out.RMS = math.Sqrt(out.RMS) / span
	return out, nil
}

// remove subtracts the best a + b/E^2.
func remove(e, y []float64) {
	mean := func(x []float64) float64 {
		s := 0.0
		for _, v := range x {
			s += v / float64(len(x))
		}
		return s
	}
	x := make([]float64, len(e))
	for i := range x {
		x[i] = 1 / (e[i] * e[i])
	}
	mx, my := mean(x), mean(y)
	xx, xy := 0.0, 0.0
	for i := range x {
		xx, xy = xx+(x[i]-mx)*(x[i]-mx), xy+(x[i]-mx)*(y[i]-my)
	}
	for i := range y {
		y[i] -= my + xy/xx*(x[i]-mx)
	}
}
