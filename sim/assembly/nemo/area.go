// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import (
	"fmt"
	"math"
	"slices"
)

// Area is a population of N neurons, of which K or none fire at a time. For each field below K, the
// zero value switches off what it describes.
type Area struct {
	N, K      int
	Beta      float64 // plasticity of the synapses into the area
	Recurrent *Matrix // synapses from the area to itself

	// Bias is subtracted from the input of each neuron of a refracted area. While the area learns,
	// it grows where neurons fire: by Beta times their input, or by Refraction if that is positive.
	Bias       []float64
	Refraction float64

	// Fatigue inhibits neurons that fired lately: a neuron that fired a = 1 to Period steps ago
	// loses Strength (1 - (a-1)/Period) each time, whether the area learns or not.
	Fatigue Fatigue

	// Attention makes learning fast and temporary: instead of any Hebbian growth, recurrent synapses
	// from neurons that fired before to neurons that fire now are set to 1 + Beta until Decay.
	Attention bool

	// Threshold lets only neurons fire whose input is at least this large, at most K of them.
	Threshold float64
	// Relative lets all neurons fire whose input is at least this fraction of the largest, but no
	// fewer than Least (default 1) and no more than Most (default K) of them.
	Relative    float64
	Least, Most int

	Winners []int32 // neurons that fire, in order of number; empty if the area is silent

	wins    []bool
	x, net  []float64 // input, and input less bias and fatigue
	heap    []float64 // largest values found so far by the selection
	noise   []float64 // noise added to the next input; nil for none
	drive   float64
	past    [][]int32 // winners of the last steps, the latest first
	changed []change  // weights that Decay restores
}

// Fatigue inhibits neurons that fired recently; see Area.
type Fatigue struct {
	Strength float64 // largest inhibition, in units of input
	Period   int     // number of steps that fatigue lasts
}

// NewArea returns a silent area of n neurons of which k fire, without recurrence. It
// returns an error unless 1 <= k <= n and beta >= 0.
func NewArea(n, k int, beta float64) (*Area, error) {
	switch {
	case k < 1 || k > n || n > math.MaxInt32:
		return nil, fmt.Errorf("nemo: an area is to fire %d of its %d neurons: want at least 1 and at most all, of less than 2^31", k, n)
	case !(beta >= 0) || math.IsInf(beta, 0):
		return nil, fmt.Errorf("nemo: the plasticity of an area is %g: want at least 0", beta)
	}
	return &Area{N: n, K: k, Beta: beta, wins: make([]bool, n), x: make([]float64, n)}, nil
}

// Firing is a set of neurons that fire into an area through a matrix.
type Firing struct {
	Through *Matrix
	Neurons []int32
}

// Step chooses new winners from the inputs, and from the area's own winners if it is recurrent. If
// learn is set, it strengthens the synapses that chose them. Without any input, nothing fires.
//
//	x = sum of weights;  winners = k largest of x - bias, x > 0 somewhere
//	bias_j += beta x_j,  w_ij *= 1 + beta  for winners j
//
// It returns an error, and changes nothing, where a matrix or a neuron does not fit.
func (a *Area) Step(learn bool, in ...Firing) error {
	if err := a.check(in); err != nil {
		return err
	}
	a.gather(in)
	before := a.Winners
	a.Winners = nil
	if slices.ContainsFunc(a.x, func(v float64) bool { return v != 0 }) {
		a.Winners = a.choose()
	}
	a.drive = 0
	for _, j := range a.Winners {
		a.drive += a.x[j]
	}
	if learn {
		a.refract()
		a.learn(before, in)
	}
	a.remember()
	return nil
}

// gather sums the inputs.
func (a *Area) gather(in []Firing) {
	clear(a.x)
	copy(a.x, a.noise)
	a.noise = nil
	for _, f := range in {
		f.Through.add(a.x, f.Neurons)
	}
	if a.Recurrent != nil {
		a.Recurrent.add(a.x, a.Winners)
	}
}

// Force makes neurons fire whatever the input is, and learns as Step does, except for the bias. If a
// matrix or a neuron does not fit, it returns an error and changes nothing.
func (a *Area) Force(neurons []int32, in ...Firing) error {
	if err := a.check(in); err != nil {
		return err
	}
	if err := inRange(neurons, a.N, "area"); err != nil {
		return err
	}
	before := a.Winners
	a.set(neurons)
	a.learn(before, in)
	a.remember()
	return nil
}

// Fire makes neurons fire without learning; they are the area's winners until its next step.
func (a *Area) Fire(neurons []int32) error {
	if err := inRange(neurons, a.N, "area"); err != nil {
		return err
	}
	a.set(neurons)
	return nil
}

func (a *Area) set(neurons []int32) {
	a.Winners, a.drive = slices.Clone(neurons), 0
	slices.Sort(a.Winners)
}

// Inhibit silences the area. Bias and fatigue stay.
func (a *Area) Inhibit() { a.Winners, a.drive, a.noise = nil, 0, nil }

// Rest silences the area and ends its fatigue. Bias stays.
func (a *Area) Rest() {
	a.Inhibit()
	a.past = nil
}

// Disturb adds noise, one number per neuron, to the input of the next step only. It keeps the slice
// until then.
func (a *Area) Disturb(noise []float64) error {
	if len(noise) != a.N {
		return fmt.Errorf("nemo: there is noise for %d neurons, but the area has %d: give one number for each", len(noise), a.N)
	}
	if j := slices.IndexFunc(noise, notFinite); j >= 0 {
		return fmt.Errorf("nemo: the noise is %g for neuron %d: want finite numbers", noise[j], j)
	}
	a.noise = noise
	return nil
}

// Drive returns the summed input of the winners of the last step.
func (a *Area) Drive() float64 { return a.drive }

func (a *Area) learn(before []int32, in []Firing) {
	for _, j := range a.Winners {
		a.wins[j] = true
	}
	if a.Attention {
		a.attend(before)
	} else {
		for _, f := range in {
			f.Through.strengthen(f.Neurons, a.wins, 1+a.Beta)
		}
		if a.Recurrent != nil {
			a.Recurrent.strengthen(before, a.wins, 1+a.Beta)
		}
	}
	for _, j := range a.Winners {
		a.wins[j] = false
	}
}

func (a *Area) check(in []Firing) error {
	if a.wins == nil {
		return fmt.Errorf("nemo: the area was not made by NewArea: make it with NewArea")
	}
	if a.K < 1 || a.K > a.N || a.N != len(a.x) {
		return fmt.Errorf("nemo: an area of %d neurons was set to fire %d of %d: want 1 to %d of the same", len(a.x), a.K, a.N, len(a.x))
	}
	if a.Bias != nil && len(a.Bias) != a.N {
		return fmt.Errorf("nemo: there is bias for %d neurons, but the area has %d: give one number for each", len(a.Bias), a.N)
	}
	if a.Recurrent != nil {
		if err := a.Recurrent.between("of an area to itself", a.N, a.N); err != nil {
			return err
		}
	}
	for _, f := range in {
		if err := f.Through.onto("of an input", a.N); err != nil {
			return err
		}
		if err := inRange(f.Neurons, len(f.Through.rows), "input"); err != nil {
			return err
		}
	}
	return nil
}

// inRange checks numbers of neurons.
func inRange(neurons []int32, n int, what string) error {
	for _, i := range neurons {
		if i < 0 || int(i) >= n {
			return fmt.Errorf("nemo: neuron %d cannot fire: the %s has neurons 0 to %d", i, what, n-1)
		}
	}
	return nil
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
