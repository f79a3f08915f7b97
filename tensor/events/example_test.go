// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package events_test

import (
	"fmt"

	"github.com/euryale-dev/euryale/tensor/events"
)

// Two frames of 2 x 3 pixels become lists and frames again. Of a third, the events come in any order.
func Example() {
	dense := []float32{0, 4, 0, 0, 0, 1, 0, 0, 7, 0, 0, 0}
	var e events.List
	e.Reset()
	e.Gather(dense, 6)
	e.Pixel, e.Count = append(e.Pixel, 5, 2, 5), append(e.Count, 1, 3, 1)
	e.Tidy()
	e.End()
	fmt.Println(e.Frames(), e.Start, e.Pixel, e.Count)

	again := make([]float32, 18)
	e.Scatter(again, 6)
	fmt.Println(again[12:])
	// Output:
	// 3 [0 2 3 5] [1 5 2 2 5] [4 1 7 3 2]
	// [0 0 3 0 0 2]
}
