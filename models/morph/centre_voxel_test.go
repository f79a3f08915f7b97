// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// The voxel at the very centre of a ball of radial molecules points along +z, and moving the centre has a finite derivative.
func TestCentreVoxelHasADirection(t *testing.T) {
	g := Grid{Shape: [3]int{3, 5, 3}, Voxel: 2}
	x := ad.Input("x")
	theta, psi := g.From(Vec{ad.Add(x, ad.Scalar(2)), ad.Scalar(4), ad.Scalar(2)}).Angles()
	along := Direction(theta, psi)
	slope := ad.Grad(ad.Sum(ad.Mul(along[0], along[2])), x)[0]
	p, err := ad.Compile([]*ad.Node{theta, slope, ad.Square(along[0])}, ad.Settings{Inputs: []*ad.Node{x}})
	if err != nil {
		t.Fatal(err)
	}
	st := p.NewState()
	if err := st.Run(); err != nil {
		t.Fatal(err)
	}
	const centre = (1*5+2)*3 + 1
	if a := st.Output(0)[centre]; a != 0 {
		t.Errorf("the centre points %g rad away from +z, want 0", a)
	}
	if a := st.Output(2)[centre+1]; math.Abs(a-1) > 1e-15 {
		t.Errorf("the voxel beside it along x has s_x^2 = %g, want 1", a)
	}
	if d := st.Output(1)[0]; math.IsNaN(d) || math.Abs(d) > 10 {
		t.Errorf("the derivative with respect to the centre is %g, want one of about 1/voxel", d)
	}
}
