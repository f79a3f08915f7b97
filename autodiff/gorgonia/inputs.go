// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	"github.com/euryale-dev/euryale/autodiff"
)

// nameless is what Gorgonia prints for the name of an input that has none.
var nameless = fmt.Sprintf("%s()", G.Op(nil))

func isInput(n *G.Node) bool { return n.Op() == nil }

// nameInputs gives every input of list a name of its own, in the order of
// creation: its name, inputN where it has none and N is its ID, either followed
// by #2, #3 and so on where an earlier input has it. Names that Gorgonia's user
// gave go first.
func (im *importer) nameInputs(list []*G.Node) {
	for _, given := range []bool{true, false} {
		for _, n := range list {
			if isInput(n) && (n.Name() != nameless) == given {
				im.names[n] = im.unused(baseName(n))
			}
		}
	}
}

// baseName is the name of an input, or what stands for it.
func baseName(n *G.Node) string {
	if name := n.Name(); name != nameless {
		return name
	}
	return fmt.Sprintf("input%d", n.ID())
}

func (im *importer) unused(base string) string {
	name := base
	for i := 2; im.taken[name]; i++ {
		name = fmt.Sprintf("%s#%d", base, i)
	}
	im.taken[name] = true
	return name
}

// input makes the leaf of an input node.
func (im *importer) input(n *G.Node) *autodiff.Node {
	im.inputs = append(im.inputs, n)
	if n.Dtype() == gt.Int {
		return autodiff.IntInput(im.names[n], n.Shape()...)
	}
	return autodiff.Input(im.names[n], n.Shape()...)
}

// title names a node in messages.
func title(n *G.Node) string {
	if n != nil && isInput(n) {
		return fmt.Sprintf("%s :: %v", baseName(n), n.Type())
	}
	return fmt.Sprint(n)
}
