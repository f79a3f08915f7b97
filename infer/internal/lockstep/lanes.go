// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lockstep

import (
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// memory holds the inputs of a state. On a device those that seldom change stay there: they are sent after a change only.
type memory struct {
	state *ad.State
	lanes int
	in    [][]float64
	// stays says which inputs are on a device, and stale which of them have changed.
	stays, stale []bool
}

// newMemory returns the inputs of a state; those for which often is true change before every run.
func newMemory(s *ad.State, lanes int, often func(i int) bool) *memory {
	m := &memory{state: s, lanes: lanes}
	device := s.Program().Device() != "cpu"
	for i, x := range s.Program().Inputs() {
		stays := device && !often(i)
		m.stays, m.stale = append(m.stays, stays), append(m.stale, stays)
		if stays {
			m.in = append(m.in, make([]float64, x.Size()))
		} else {
			m.in = append(m.in, s.Input(i))
		}
	}
	return m
}

// run sends what has changed, and runs the program.
func (m *memory) run() error {
	for i, stale := range m.stale {
		if !stale {
			continue
		}
		if err := m.state.SetInput(i, m.in[i]); err != nil {
			return err
		}
		m.stale[i] = false
	}
	return m.state.Run()
}

// loadAll writes values into the inputs from the first on, in all lanes.
func (m *memory) loadAll(first int, values [][]float64) {
	for i, v := range values {
		if to := m.in[first+i]; len(to) == len(v) {
			copy(to, v)
		} else {
			for lane := range m.lanes {
				scatter(to, v, lane, m.lanes)
			}
		}
		m.stale[first+i] = m.stays[first+i]
	}
}

// load writes values into one lane of the inputs from the first on. It leaves inputs without lanes alone.
func (m *memory) load(first, lane int, values [][]float64) {
	for i, v := range values {
		if to := m.in[first+i]; len(to) != len(v) {
			scatter(to, v, lane, m.lanes)
			m.stale[first+i] = m.stays[first+i]
		}
	}
}

// imitate copies one lane of some inputs to another.
func (m *memory) imitate(lane, other int, inputs []int) {
	for _, i := range inputs {
		v := m.in[i]
		for at := 0; at < len(v); at += m.lanes {
			v[at+lane] = v[at+other]
		}
		m.stale[i] = m.stays[i]
	}
}

// placesOf returns the numbers of the inputs that are among nodes.
func placesOf(inputs, nodes []*ad.Node) (at []int) {
	for i, n := range inputs {
		if slices.Contains(nodes, n) {
			at = append(at, i)
		}
	}
	return at
}

// scatter writes v into a lane. Element i of a lane stands at i*lanes + lane.
func scatter(to, v []float64, lane, lanes int) {
	for _, x := range v {
		to[lane] = x
		lane += lanes
	}
}

// gather reads v from a lane.
func gather(v, from []float64, lane, lanes int) {
	for i := range v {
		v[i] = from[lane]
		lane += lanes
	}
}
