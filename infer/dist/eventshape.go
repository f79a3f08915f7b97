// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

// EventShape returns the shape of one value of a distribution of vectors or matrices, if
// the distribution or a parameter determines it: a size, a mean, concentrations or a
// scale matrix. It is empty for scalar distributions and for those that can have any
// size.
func (d Dist) EventShape() []int {
	if d.Center != nil && d.Event > 0 && len(d.Center.Shape()) == d.Event {
		return d.Center.Shape()
	}
	for i, n := range d.ParamEvent {
		if s := d.Params[i].Shape(); n > 0 && n == d.Event && len(s) >= n {
			return s[len(s)-n:]
		}
	}
	return []int{}
}
