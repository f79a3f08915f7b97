// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ellipsoid

import (
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/models/morph"
)

// The scene has gradients by its parameters, is what it says, and problems find it by its name.
func TestEllipsoid(t *testing.T) {
	if !strings.Contains(morph.ProblemModels(), "ellipsoid: ball stretched along z") {
		t.Error(morph.ProblemModels())
	}
	g := morph.Grid{Shape: [3]int{8, 6, 6}, Voxel: 2}
	radius, ratio := ad.Input("radius"), ad.Input("ratio")
	s := Definition.Build(&morph.Problem{}, g, func(name string) *ad.Node {
		return map[string]*ad.Node{"radius": radius, "ratio": ratio}[name]
	})
	total := ad.Sum(s.Materials[0].Vfrac)
	gradtest.Check(t, "volume", total, []*ad.Node{radius, ratio}, [][]float64{{3.3}, {1.7}}, true)
	p, err := ad.Compile([]*ad.Node{total}, ad.Settings{Inputs: []*ad.Node{radius, ratio}})
	if err != nil {
		t.Fatal(err)
	}
	st := p.NewState()
	st.Input(0)[0], st.Input(1)[0] = 4, 1.5
	if err := st.Run(); err != nil {
		t.Fatal(err)
	}
	// 4/3 pi radius^2 (radius ratio), in voxels of 8 nm^3, some of it blurred away at the edges of the grid.
	if v := st.Output(0)[0] * 8; v < 330 || v > 480 {
		t.Errorf("a volume of %g nm^3, want some 402", v)
	}
}
