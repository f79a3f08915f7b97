// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ndimage

import (
	ad "github.com/euryale-dev/euryale/autodiff"
)

// BoxSettings say how [Uniform] and [Median] filter.
type BoxSettings struct {
	Size []int   // lengths of the edges of the box, in elements: one for all axes or one for each, at least 1
	Mode Mode    // continuation beyond the ends; default Reflect
	CVal float64 // value of the elements outside in mode Constant; default 0
}

// check returns the edges for all axes and the mode.
func (s BoxSettings) check(op string, x *ad.Node) (size []int, mode Mode, bad *ad.Node) {
	if x.Err() != nil {
		return nil, "", x
	}
	mode, err := s.Mode.resolve(Reflect)
	if err != nil {
		return nil, "", fail("%s: %v", op, err)
	}
	rank := len(x.Shape())
	if len(s.Size) != 1 && len(s.Size) != rank {
		return nil, "", fail("%s: there are %d edges for shape %v: give one, or one for each axis", op, len(s.Size), x.Shape())
	}
	for axis := range rank {
		e := s.Size[axis%len(s.Size)]
		if e < 1 || e > 1<<24 {
			return nil, "", fail("%s: an edge of the box has %d elements: want 1..%d", op, e, 1<<24)
		}
		size = append(size, e)
	}
	return size, mode, nil
}

// Uniform returns the mean over a box around each element. Along an axis where the box has k
// elements, it begins k/2 (rounded down) elements before the element. A NaN spreads over the box
// and no further, whereas with running sums it would spread to the end of the axis. Gradient: the
// transposed filter.
func Uniform(x *ad.Node, s BoxSettings) *ad.Node {
	size, mode, bad := s.check("uniform", x)
	if bad != nil {
		return bad
	}
	for axis, k := range size {
		w := make([]float64, k)
		for i := range w {
			w[i] = 1 / float64(k)
		}
		x = window{w, k / 2, mode, s.CVal}.along(x, axis)
	}
	return x
}
