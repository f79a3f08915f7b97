// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/morph"
)

// leastOnFaces is the volume fraction on the faces of a box from which on a morphology does not end inside it.
const leastOnFaces = 0.02

// doubts says what is unlikely about a morphology at its start: that it does not fit its box, or has edges too wide for its size.
func (t *Task) doubts() (notes []string, err error) {
	given := map[string]*ad.Node{}
	for _, name := range t.Model.Morphology {
		if x, ok := t.start(name); ok {
			given[name] = ad.Scalar(x)
		}
	}
	notes, err = t.cutOff(func(name string) *ad.Node { return given[name] })
	if err != nil {
		return nil, err
	}
	width, ok := t.start("width")
	if !ok {
		width = t.Model.Width
	}
	for _, name := range []string{"radius", "shell", "lamella"} {
		if size, ok := t.start(name); ok && width > size/4 {
			notes = append(notes, fmt.Sprintf("the width of the edges, %.3g nm, is more than a quarter of %s, %.3g nm: such edges leave no inside", width, name, size))
		}
	}
	return notes, nil
}

// cutOff says that a morphology of voxels reaches the faces of its box; formulas have no box.
func (t *Task) cutOff(at morph.Values) ([]string, error) {
	if t.Model.Closed != nil || t.Model.Boxes != nil { // these are parts of what goes on beyond their faces
		return nil, nil
	}
	n := t.Model.Grid.Shape
	for _, m := range t.Model.Scene(at).Materials {
		v, err := ad.Numbers(ad.Broadcast(m.Vfrac, n[0], n[1], n[2]))
		if err != nil {
			return nil, err
		}
		most := 0.0
		for i, f := range v[0] {
			z, y, x := i/(n[1]*n[2]), i/n[2]%n[1], i%n[2]
			if z == 0 && n[0] > 1 || z == n[0]-1 && n[0] > 1 || y == 0 || y == n[1]-1 || x == 0 || x == n[2]-1 {
				most = max(most, f)
			}
		}
		if voxel := t.Model.Grid.Voxel; most > leastOnFaces {
			return []string{fmt.Sprintf("the morphology reaches the faces of its box of %.3g x %.3g x %.3g nm (Z, Y, X) at the start, with a volume fraction of %.2g there: make the grid larger, or check the sizes", float64(n[0])*voxel, float64(n[1])*voxel, float64(n[2])*voxel, most)}, nil
		}
	}
	return nil, nil
}
