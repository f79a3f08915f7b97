// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import "github.com/euryale-dev/euryale/data/hdf5"

// images is a dataset of frames with the axes (frame, row, column). A fourth axis of length 1 may stand before or after that of the
// frames, as some area detectors write it for colours or scans.
type images struct {
	*hdf5.Dataset
	axis int // number of the axis of frames
}

// imagesOf returns a dataset as frames, and whether it can be taken so.
func imagesOf(d *hdf5.Dataset) (images, bool) {
	axis, ok := frameAxis(d.Shape())
	t := d.Type()
	number := t.Class == hdf5.Int || t.Class == hdf5.Float || t.String() == "bool"
	return images{d, axis}, ok && number
}

// frameAxis returns the number of the axis of frames in an array of a shape, and whether there is one.
func frameAxis(shape []int) (axis int, ok bool) {
	switch n := len(shape); {
	case n < 3 || n > 4 || shape[n-1] < 1 || shape[n-2] < 1:
		return 0, false
	case n == 3 || shape[1] == 1:
		return 0, true
	default:
		return 1, shape[0] == 1
	}
}

func (m images) frames() int { return m.Shape()[m.axis] }

func (m images) height() int { return m.Shape()[len(m.Shape())-2] }

func (m images) width() int { return m.Shape()[len(m.Shape())-1] }

// chunk returns the number of frames that are stored together.
func (m images) chunk() int {
	if c := m.Chunks(); c != nil {
		return max(c[m.axis], 1)
	}
	return 1
}

// slab returns some frames.
func (m images) slab(first, n int) *hdf5.Array {
	offset, count := make([]int, len(m.Shape())), m.Shape()
	offset[m.axis], count[m.axis] = first, n
	return m.Slab(offset, count)
}
