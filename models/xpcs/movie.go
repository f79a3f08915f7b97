// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// Movie returns the frames of a file in the form that correlators read.
func Movie(f *frames.File) correlate.Movie {
	m := correlate.Movie{Frames: f.Frames, Height: f.Height, Width: f.Width, Dense: f.Dense}
	if f.Sparse {
		m.Sparse = f.Events
	} else if s := f.Stored(); s != nil {
		m.Raw = &correlate.Raw{Type: s.Type, Marks: s.Marks, Read: s.Read}
	}
	return m
}
