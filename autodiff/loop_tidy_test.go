// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "testing"

// Tidying makes Nodes in proportion to the number of conditions, of which each one depends on what the one before chose.
func TestTidyingIsLinear(t *testing.T) {
	made := func(n int) uint64 {
		x := Input("x", n)
		s := Scalar(0)
		for i := range n {
			xi := Reshape(Slice(x, 0, i, i+1))
			was := s
			s = Cond(Greater(was, Scalar(3)), func() []*Node { return []*Node{Add(was, xi)} }, func() []*Node { return []*Node{Mul(Exp(was), xi)} })[0]
		}
		outs := []*Node{s, Grad(s, x)[0]}
		begin := lastID.Load()
		if tidyLoops(upstream(outs...), outs)[0].Err() != nil {
			t.Fatal(outs[0].Err())
		}
		return lastID.Load() - begin
	}
	few, many := made(20), made(80)
	if t.Logf("%d and %d Nodes", few, many); many > 5*few {
		t.Errorf("20 conditions made %d Nodes and 80 made %d: want at most five times as many", few, many)
	}
}
