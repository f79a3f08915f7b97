// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"fmt"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// chosen returns which variables names mean: a name is that of a variable (conv1.weight), of a layer (conv1), or the last part of names
// (bias).
func (l *layout) chosen(field string, names []string) ([]bool, error) {
	out := make([]bool, len(l.list))
	for _, name := range names {
		found := false
		var known []string
		for i, v := range l.list {
			known = append(known, v.name)
			if v.name == name || strings.HasPrefix(v.name, name+".") || strings.HasSuffix(v.name, "."+name) {
				out[i], found = true, true
			}
		}
		if !found {
			hint := fmt.Sprintf("the parameters are %s", strings.Join(known, ", "))
			if m := spelling.Meant(name, known); m != "" {
				hint = fmt.Sprintf("did you mean %s?", m)
			}
			return nil, fmt.Errorf("nn: Training.%s names %q, which is neither a parameter, nor a layer, nor the last part of a name: %s", field, name, hint)
		}
	}
	return out, nil
}

// others is a vector of 0 for the chosen variables and 1 for all others; nil if none is chosen.
func (l *layout) others(chosen []bool) *ad.Node {
	if !slices.Contains(chosen, true) {
		return nil
	}
	mask := make([]float64, 0, l.total)
	for i, v := range l.list {
		one := 1.0
		if chosen[i] {
			one = 0
		}
		mask = append(mask, slices.Repeat([]float64{one}, v.node.Size())...)
	}
	return ad.Const(mask, l.total)
}

// gradient is that of the variables as one vector, 0 for those that are frozen.
func (l *layout) gradient(loss *ad.Node, frozen []bool) *ad.Node {
	var moving []*ad.Node
	for i, v := range l.list {
		if !frozen[i] {
			moving = append(moving, v.node)
		}
	}
	gradients := ad.Grad(loss, moving...)
	parts := make([]*ad.Node, len(l.list))
	for i, v := range l.list {
		if frozen[i] {
			parts[i] = ad.Full(0, v.node.Shape()...)
		} else {
			parts[i], gradients = gradients[0], gradients[1:]
		}
	}
	return joined(parts)
}
