// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"maps"
	"math"
	"slices"
)

// codes number the different weights of a fibre. These are few: synapses that have grown equally often weigh the same.
type codes struct {
	weight []float64         // weight of each code, rounded to float32; that of code 0 is 1
	known  map[uint32]uint32 // code of each weight, by its bits
	growth growth            // the growth that next belongs to
	next   []grown           // weight that follows each one
}

// grown is what becomes of a weight when it grows.
type grown struct {
	more float64 // difference of the weights
	code uint32  // code of the new weight
}

// unknown is the code of a weight that has not been asked for yet.
const unknown = math.MaxUint32

func newCodes() *codes {
	w := &codes{known: map[uint32]uint32{}}
	w.code(1)
	return w
}

// code returns the code of a weight, a new one if there is none yet.
func (w *codes) code(weight float32) uint32 {
	bits := math.Float32bits(weight)
	c, ok := w.known[bits]
	if !ok {
		c = uint32(len(w.weight))
		w.known[bits] = c
		w.weight, w.next = append(w.weight, float64(weight)), append(w.next, grown{code: unknown})
	}
	return c
}

// by tells how weights grow from now on.
func (w *codes) by(g growth) {
	if w.growth == g {
		return
	}
	w.growth = g
	for c := range w.next {
		w.next[c].code = unknown
	}
}

// grow returns what becomes of a weight, and notes it.
func (w *codes) grow(code uint32) grown {
	was := w.weight[code]
	now := float32(w.growth.function()(was))
	to := w.code(now)
	w.next[code] = grown{float64(now) - was, to}
	return w.next[code]
}

func (w *codes) clone() *codes {
	return &codes{slices.Clone(w.weight), maps.Clone(w.known), w.growth, slices.Clone(w.next)}
}

func (w *codes) bytes() int { return 24*cap(w.weight) + 8*len(w.known) }
