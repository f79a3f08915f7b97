// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import (
	"fmt"

	"github.com/euryale-dev/euryale/tensor"
)

// Class is a class of stimuli: each of its core neurons fires with probability R, each
// other neuron with probability Q.
type Class struct {
	Neurons int     // total number of neurons
	Core    []int32 // core neurons, from 0 to Neurons-1; other numbers are ignored
	R, Q    float64 // probabilities that a core neuron and any other neuron fire, 0 to 1
}

// Sample appends the neurons of one stimulus to dst, in order of number. It advances
// src by two words per neuron.
func (c Class) Sample(dst []int32, src *tensor.Stream) []int32 {
	core := make([]bool, max(c.Neurons, 0))
	for _, j := range c.Core {
		if j >= 0 && int(j) < c.Neurons {
			core[j] = true
		}
	}
	for j := range core {
		p := c.Q
		if core[j] {
			p = c.R
		}
		if src.Float64() < p {
			dst = append(dst, int32(j))
		}
	}
	return dst
}

// Classifier tells classes of stimuli apart by the assemblies that they form in an area.
type Classifier struct {
	Area       *Area
	Assemblies [][]int32 // assembly of each class, in the order learnt
	in         *Matrix
}

// NewClassifier makes a classifier of an area and the matrix from stimuli to it. If it is to learn
// several classes one after another, normalise the matrices first.
func NewClassifier(area *Area, in *Matrix) (*Classifier, error) {
	if area == nil {
		return nil, fmt.Errorf("nemo: the classifier has no area: make one with NewArea")
	}
	if err := in.onto("from stimuli", area.N); err != nil {
		return nil, err
	}
	return &Classifier{Area: area, in: in}, nil
}

// Learn presents the stimuli of a new class, one per step, and remembers the last winners as the
// class's assembly. It returns the number of the class, or ErrSilent if nothing fires.
func (c *Classifier) Learn(stimuli [][]int32) (class int, err error) {
	if len(stimuli) == 0 {
		return 0, fmt.Errorf("nemo: class %d has no stimuli: give it at least one", len(c.Assemblies))
	}
	c.Area.Rest()
	for _, s := range stimuli {
		if err := c.Area.Step(true, Firing{c.in, s}); err != nil {
			return 0, err
		}
	}
	w := c.Area.Winners
	c.Area.Rest()
	if len(w) == 0 {
		return 0, fmt.Errorf("nemo: class %d has no assembly after %d stimuli: %w: use stimuli that reach the area", len(c.Assemblies), len(stimuli), ErrSilent)
	}
	c.Assemblies = append(c.Assemblies, w)
	return len(c.Assemblies) - 1, nil
}

// Normalize divides the weights onto each neuron by their sum, in each matrix.
func (c *Classifier) Normalize() {
	c.in.Normalize()
	if c.Area.Recurrent != nil {
		c.Area.Recurrent.Normalize()
	}
}

// Answer presents a stimulus to the silent area for some steps, without learning, and returns the
// winners.
func (c *Classifier) Answer(stimulus []int32, steps int) ([]int32, error) {
	c.Area.Rest()
	for range steps {
		if err := c.Area.Step(false, Firing{c.in, stimulus}); err != nil {
			return nil, err
		}
	}
	w := c.Area.Winners
	c.Area.Rest()
	return w, nil
}

// Classify presents a stimulus for one step and returns the class whose assembly shares most neurons
// with the answer, the first among equals, and the overlaps with all classes as fractions of K. It
// returns ErrSilent if nothing fires.
func (c *Classifier) Classify(stimulus []int32) (class int, overlaps []float64, err error) {
	if len(c.Assemblies) == 0 {
		return 0, nil, fmt.Errorf("nemo: the classifier has no classes: call Learn first")
	}
	w, err := c.Answer(stimulus, 1)
	if err != nil {
		return 0, nil, err
	}
	if len(w) == 0 {
		return 0, nil, fmt.Errorf("nemo: the stimulus of %d neurons belongs to none of %d classes: %w in answer: use one that reaches the area", len(stimulus), len(c.Assemblies), ErrSilent)
	}
	overlaps = make([]float64, len(c.Assemblies))
	for i, a := range c.Assemblies {
		overlaps[i] = float64(shared(a, w)) / float64(c.Area.K)
		if overlaps[i] > overlaps[class] {
			class = i
		}
	}
	return class, overlaps, nil
}

// shared counts the neurons that two lists, both in order of number, have in common.
func shared(a, b []int32) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			i, j, n = i+1, j+1, n+1
		}
	}
	return n
}
