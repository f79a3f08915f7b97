// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"fmt"
	"slices"
)

// Mask says which pixels are kept.
type Mask struct {
	Height, Width int
	Keep          []bool // kept pixels, row-major (Height, Width)
}

// mostPixels bounds the size of a detector.
const mostPixels = 1 << 31

// New returns a mask that keeps every pixel. It panics unless both sizes are at least 1.
func New(height, width int) *Mask {
	if height < 1 || width < 1 {
		panic(fmt.Sprintf("mask: the detector has %d x %d pixels: want at least 1 x 1", height, width))
	}
	return &Mask{height, width, slices.Repeat([]bool{true}, height*width)}
}

// From returns a mask that keeps the pixels whose value is above 0, as in mask files. Values are
// row-major (height, width).
func From(values []float64, height, width int) (*Mask, error) {
	if err := checkShape(height, width); err != nil {
		return nil, err
	}
	if len(values) != height*width {
		return nil, fmt.Errorf("mask: there are %d values for %d x %d pixels: give one for each", len(values), height, width)
	}
	m := &Mask{height, width, make([]bool, len(values))}
	for i, v := range values {
		m.Keep[i] = v > 0
	}
	return m, nil
}

func checkShape(height, width int) error {
	if height < 1 || width < 1 || float64(height)*float64(width) > mostPixels {
		return fmt.Errorf("mask: the detector has %d x %d pixels: want at least 1 x 1 and at most 2^31 pixels", height, width)
	}
	return nil
}

// Count returns the number of pixels that are kept.
func (m *Mask) Count() (n int) {
	for _, k := range m.Keep {
		if k {
			n++
		}
	}
	return n
}

// Clone returns a copy.
func (m *Mask) Clone() *Mask { return &Mask{m.Height, m.Width, slices.Clone(m.Keep)} }

// Equal reports whether both masks keep the same pixels of detectors of the same shape.
func (m *Mask) Equal(o *Mask) bool {
	return m.Height == o.Height && m.Width == o.Width && slices.Equal(m.Keep, o.Keep)
}

// And also masks the pixels that o does not keep.
func (m *Mask) And(o *Mask) error {
	if m.Height != o.Height || m.Width != o.Width {
		return fmt.Errorf("mask: a mask of %d x %d pixels does not fit one of %d x %d: use masks of one detector", o.Height, o.Width, m.Height, m.Width)
	}
	for i, k := range o.Keep {
		m.Keep[i] = m.Keep[i] && k
	}
	return nil
}

// Transpose returns the mask with rows and columns exchanged.
func (m *Mask) Transpose() *Mask {
	t := &Mask{m.Width, m.Height, make([]bool, len(m.Keep))}
	for r := range m.Height {
		for c := range m.Width {
			t.Keep[c*m.Height+r] = m.Keep[r*m.Width+c]
		}
	}
	return t
}

// Fit returns the mask for a detector of the given shape: itself, or transposed if only that fits.
func (m *Mask) Fit(height, width int) (*Mask, error) {
	switch {
	case m.Height == height && m.Width == width:
		return m, nil
	case m.Height == width && m.Width == height:
		return m.Transpose(), nil
	}
	return nil, fmt.Errorf("mask: a mask of %d x %d pixels does not fit a detector of %d x %d, nor does it transposed: use the mask of this detector", m.Height, m.Width, height, width)
}

// String says how many pixels are masked.
func (m *Mask) String() string {
	bad := len(m.Keep) - m.Count()
	return fmt.Sprintf("%d x %d pixels, %d masked (%.3f %%)", m.Height, m.Width, bad, 100*float64(bad)/float64(max(len(m.Keep), 1)))
}
