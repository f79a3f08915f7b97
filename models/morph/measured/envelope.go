// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"slices"
)

// enoughOfEnvelope is the distance from the middle of a Gaussian envelope to the faces of its box, in standard deviations, from which on the cut
// is not seen. At 2.9, 70,000 pixels moved a period by 0.9 of its standard deviations against the whole envelope, at 3.6 all parameters together
// by less than one, and at 4.3 by 0.05.
const enoughOfEnvelope = 3.8

// kindBox is the finding that a box cuts a grain.
const kindBox = "box"

// whole is the fit of a grain whose envelope no box cuts, where the box of a model does; nil where it does not.
func (t *Task) whole(s *Solution) []rival {
	thirdAxis := func(m Table) bool { return m.Second != nil } // which closed forms do not know
	if t.Model.Whole == nil || slices.ContainsFunc(t.Model.Tables, thirdAxis) || t.cutEnvelope(s.X) == nil {
		return nil
	}
	k, _ := t.altered(func(*Frame) bool { return true })
	for _, m := range k.models() {
		m.Closed, m.Whole = m.Whole, nil
	}
	return []rival{{kind: kindBox, first: len(k.Params), task: k, starts: [][]float64{s.X}, say: func(*Solution) (string, string) {
		return "a grain whose envelope the box does not cut off would fit better", `make the grid larger, or add "closed": true to the options`
	}}}
}

// cutEnvelope says at the parameters x that the box of a problem cuts the envelope of a grain, which is whole in closed form.
func (t *Task) cutEnvelope(x []float64) []string {
	size, ok := t.Fixed["grain"]
	if k := slices.Index(t.Names(), "grain"); k >= 0 {
		size, ok = x[k], true
	}
	g := t.Model.Grid
	if !ok || !t.knows("grain") || g.Voxel == 0 {
		return nil
	}
	axis := 0
	for i, n := range g.Shape {
		if n < g.Shape[axis] {
			axis = i
		}
	}
	edge := float64(g.Shape[axis]) * g.Voxel
	at := edge / 2 / size
	if !(at < enoughOfEnvelope) {
		return nil
	}
	text := fmt.Sprintf("the grid ends %.2g grain sizes from the middle along %c (%.4g nm across, and the grain has a standard deviation of %.3g nm), where the envelope is still %.2g %% of its peak", at, "zyx"[axis], edge, size, 100*math.Exp(-at*at/2))
	if t.Model.Closed != nil {
		return []string{text + ": the closed form has the whole envelope, so that counts that were simulated in this box differ by what it cuts off: fit those without options.closed"}
	}
	return []string{text + ": the fit is of a grain that is cut off there, and where counts are many its parameters differ from those of a whole one by up to a standard deviation: make the grid larger, unless the data were simulated in this box"}
}
