// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import "github.com/euryale-dev/euryale/tensor"

type float interface{ ~float32 | ~float64 }

// stack reads an array slice by slice, in the precision T.
type stack[T float] struct {
	all   []T // the array if it has this precision
	other any // the array if it has the other precision
	size  int // number of elements of a slice
}

func newStack[T float](t *tensor.Tensor, depth int) stack[T] {
	s := stack[T]{size: t.Size() / depth}
	data := t.Compact().Data()
	if all, ok := data.([]T); ok {
		s.all = all
	} else {
		s.other = data
	}
	return s
}

// at returns slice z, converted into room if the precision differs.
func (s stack[T]) at(z int, room []T) []T {
	lo, hi := z*s.size, (z+1)*s.size
	switch other := s.other.(type) {
	case []float64:
		return convert(room, other[lo:hi])
	case []float32:
		return convert(room, other[lo:hi])
	case []tensor.Half:
		room = room[:s.size]
		for i, h := range other[lo:hi] {
			room[i] = T(h.Float32())
		}
		return room
	}
	return s.all[lo:hi]
}

// target returns memory to write slice z to: the slice itself, or room, which put stores.
func (s stack[T]) target(z int, room []T) []T {
	if s.other != nil {
		return room[:s.size]
	}
	return s.all[z*s.size : (z+1)*s.size]
}

// put stores slice z, which target returned.
func (s stack[T]) put(z int, v []T) {
	lo, hi := z*s.size, (z+1)*s.size
	switch other := s.other.(type) {
	case []float64:
		convert(other[lo:hi], v)
	case []float32:
		convert(other[lo:hi], v)
	case []tensor.Half:
		for i, x := range v {
			other[lo+i] = tensor.HalfOf(float64(x))
		}
	}
}

func convert[A, B float](dst []A, src []B) []A {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = A(v)
	}
	return dst
}
