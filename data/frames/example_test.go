// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/frames"
)

// Two frames of photon counts are written as events and read back as a dense frame. Any other format is
// read in the same way.
func Example() {
	dir, err := os.MkdirTemp("", "frames")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "photons.imm")
	w, err := frames.CreateIMM(name, 2, 3) // 2 rows, 3 columns
	if err != nil {
		log.Fatal(err)
	}
	defer w.Discard()
	// The first frame has counts in pixels 1 and 5, and the second one in pixel 2.
	err = w.Append(&frames.Events{Start: []int{0, 2, 3}, Pixel: []uint32{1, 5, 2}, Count: []float32{4, 1, 7}})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	f, err := frames.Open(name, frames.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println(f.Format, f.Frames, "frames of", f.Height, "by", f.Width, "pixels")
	first := make([]float32, f.Height*f.Width)
	if err := f.Dense(0, first); err != nil {
		log.Fatal(err)
	}
	fmt.Println(first)
	// Output:
	// imm 2 frames of 2 by 3 pixels
	// [0 4 0 0 0 1]
}
