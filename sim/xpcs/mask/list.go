// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"fmt"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// remove masks the pixels of a list of (row, column).
func remove(height, width int, pixels [][2]int) (*Mask, error) {
	m := New(height, width)
	outside, example := 0, [2]int{}
	for _, p := range pixels {
		if p[0] < 0 || p[0] >= height || p[1] < 0 || p[1] >= width {
			if outside == 0 {
				example = p
			}
			outside++
			continue
		}
		m.Keep[p[0]*width+p[1]] = false
	}
	if outside > 0 {
		return nil, fmt.Errorf("mask: %d of %s, such as row %d, column %d, %s outside the detector of %d x %d pixels: use the list of this detector, and give rows first",
			outside, errtext.Count(len(pixels), "listed pixel"), example[0], example[1], errtext.Agree(outside, "is", "are"), height, width)
	}
	return m, nil
}
