// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/data/nexus"
)

// readMask reads the mask of a detector of a given size from a mask file, a q map or a result.
func readMask(name string, height, width int) ([]bool, error) {
	m, err := maskfile.Read(name, maskfile.Settings{Height: height, Width: width})
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
