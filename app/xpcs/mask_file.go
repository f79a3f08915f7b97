// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/data/nexus"
)

// readMask reads the mask of a detector of a given size from a mask file, a q map or a result. The dataset of --dataset is that of the mask
// if the file has it, and may be that of an image otherwise.
func readMask(name, dataset string, height, width int) ([]bool, error) {
	s := maskfile.Settings{Height: height, Width: width, MaxPixels: max(maskfile.MostPixels, height*width)} // those of the detector fit
	if f, err := hdf5.Open(name); err == nil {
		if f.Has(dataset) {
			s.Key = dataset
		}
		f.Close()
	} else if strings.EqualFold(filepath.Ext(name), ".npz") {
		s.Key = dataset
	}
	m, err := maskfile.Read(name, s)
	if err == nil {
		return m.Keep, nil
	}
	q, other := nexus.OpenQMap(name) // of a name with another ending
	if other != nil {
		return nil, exit.Input(err)
	}
	if m := q.Maps; m.Height != height || m.Width != width {
		return nil, exit.With(exit.Data, fmt.Errorf("%s has a mask of %d x %d pixels, but the detector has %d x %d: use a mask of this detector", name, m.Height, m.Width, height, width))
	}
	return q.Maps.Mask, nil
}
