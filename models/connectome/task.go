// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"fmt"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// NoisyClasses is a task to train on: class c has a core of stimulus neurons, Active c to Active
// (c+1) - 1, that fire with probability On; all others fire with probability Off.
type NoisyClasses struct {
	Classes     int     `json:"classes"`
	Active      int     `json:"active"` // number of neurons of a core
	On          float64 `json:"on"`
	Off         float64 `json:"off"`
	Train, Test int     // numbers of training and test examples
}

// The random streams of tasks.
const (
	purposeTask     uint32 = 911
	purposeAssembly uint32 = 912
)

func (t NoisyClasses) check(inputs int) error {
	switch {
	case t.Classes < 2 || t.Active < 1 || t.Active > inputs/t.Classes:
		return fmt.Errorf("the task has %d classes of %s among the %d of the stimuli: want at least 2 classes that fit side by side", t.Classes, errtext.Count(t.Active, "neuron"), inputs)
	case !(t.Off >= 0 && t.On > t.Off && t.On <= 1):
		return fmt.Errorf("the task makes neurons fire with probability %g in the core and %g elsewhere: want 0 <= off < on <= 1", t.On, t.Off)
	case t.Train < 1 || t.Test < 1:
		return fmt.Errorf("the task has %s to train and %d to test on: want at least 1 of each", errtext.Count(t.Train, "example"), t.Test)
	}
	return nil
}

// Draw draws examples of a stimulus with so many input neurons: training examples come from stream
// 0 of the seed, test examples from stream 1.
func (t NoisyClasses) Draw(inputs int, seed uint64) (train, test Examples) {
	return t.draw(inputs, t.Train, seed, 0), t.draw(inputs, t.Test, seed, 1)
}

func (t NoisyClasses) draw(inputs, count int, seed uint64, id uint32) (e Examples) {
	src := tensor.NewStream(seed, purposeTask, id)
	for range count {
		label, x := src.IntN(t.Classes), make([]float64, inputs)
		for i := range x {
			rate := t.Off
			if i/t.Active == label {
				rate = t.On
			}
			if src.Float64() < rate {
				x[i] = 1
			}
		}
		e.Stimuli, e.Labels = append(e.Stimuli, x), append(e.Labels, label)
	}
	return e
}

// RandomReadout gives each class an assembly of its own: the assemblies are disjoint sets of k
// neurons of an area.
func RandomReadout(a Area, classes int, seed uint64) (Readout, error) {
	if a.K < 1 || a.N < 1 {
		return Readout{}, fmt.Errorf("connectome: area %s is to fire %d of its %d neurons: want at least 1 of each", a.Name, a.K, a.N)
	}
	if classes > a.N/a.K {
		return Readout{}, fmt.Errorf("connectome: %d assemblies of %s do not fit side by side into the %d neurons of area %s: lower K, or use fewer classes", classes, errtext.Count(a.K, "neuron"), a.N, a.Name)
	}
	src := tensor.NewStream(seed, purposeAssembly, 0)
	order := src.Perm(a.N)
	r := Readout{Area: a.Name}
	for c := range classes {
		r.Assemblies = append(r.Assemblies, order[c*a.K:(c+1)*a.K])
	}
	return r, nil
}
