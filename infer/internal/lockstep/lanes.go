package lockstep

import (
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// loadAll writes values into the inputs of a state from the first on, in all lanes.
func loadAll(s *ad.State, first, lanes int, values [][]float64) {
	for i, v := range values {
		if to := s.Input(first + i); len(to) == len(v) {
			copy(to, v)
		} else {
			for lane := range lanes {
				scatter(to, v, lane, lanes)
			}
		}
	}
}

// load writes values into one lane of the inputs of a state from the first on. It leaves
// inputs without lanes alone.
func load(s *ad.State, first, lane, lanes int, values [][]float64) {
	for i, v := range values {
		if to := s.Input(first + i); len(to) != len(v) {
			scatter(to, v, lane, lanes)
		}
	}
}

// imitate copies one lane of some inputs to another.
func imitate(s *ad.State, lane, other, lanes int, inputs []int) {
	for _, i := range inputs {
		v := s.Input(i)
		for at := 0; at < len(v); at += lanes {
			v[at+lane] = v[at+other]
		}
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
