// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	"github.com/euryale-dev/euryale/autodiff"
)

// Imported is a Gorgonia graph that was converted to Nodes.
type Imported struct {
	// Precision is the width of the graph's reals in bits, 64 or 32.
	Precision int
	// Warnings names the nodes that were made by gorgonia.Grad, are needed by the outputs, and may
	// have wrong derivatives, and also the statements that do not run.
	Warnings []string

	outs   []*G.Node
	inputs []*G.Node
	of     map[*G.Node]*autodiff.Node
}

// Import lowers the nodes that outs depend on. They must belong to one graph whose reals all have
// one precision. It returns an error if the graph is damaged: if nodes depend on themselves, lack
// arguments, or use a node that Gorgonia has deleted and used again.
//
// Each input node becomes an input of its own, because values are bound to nodes; [Imported.Node]
// returns it. It has the node's name. An input without a name is called inputN after its ID N; of
// several inputs that have one name but different shapes the later ones are called name#2, name#3
// and so on. Gorgonia itself takes inputs of equal name, type and shape for one node, and so all
// nameless ones of one type and shape: name those with WithName.
//
// Random nodes, BatchNorm, the random part of Dropout, YOLOv3 and operations of other packages
// become opaque steps that call op.Do; their gradient comes from SymDiff. Constants are read during
// the import, and the values of inputs at each run.
func Import(outs ...*G.Node) (*Imported, error) {
	if len(outs) == 0 {
		return nil, fmt.Errorf("gorgonia: import: there are no outputs: pass the nodes to compute")
	}
	im := newImporter()
	list, err := im.add(outs...)
	if err != nil {
		return nil, err
	}
	for _, n := range outs {
		if err := im.of[n].Err(); err != nil {
			return nil, fmt.Errorf("gorgonia: %w", err)
		}
	}
	return &Imported{Precision: im.bits(), Warnings: warnings(list), outs: outs, inputs: im.inputs, of: im.of}, nil
}

// Node returns the Node that n became, or nil if no output depends on n.
func (im *Imported) Node(n *G.Node) *autodiff.Node { return im.of[n] }

// Inputs returns the input nodes, in the order of their creation.
func (im *Imported) Inputs() []*G.Node { return slices.Clone(im.inputs) }

// Outputs returns the Nodes that the nodes passed to Import became.
func (im *Imported) Outputs() []*autodiff.Node {
	out := make([]*autodiff.Node, len(im.outs))
	for i, n := range im.outs {
		out[i] = im.of[n]
	}
	return out
}

// Grad returns the gradients of the sum of cost by autodiff's rules, as Nodes with the shapes of
// wrt that can be differentiated again. The gradient with respect to a node on which cost does not
// depend is zero.
func (im *Imported) Grad(cost *G.Node, wrt ...*G.Node) ([]*autodiff.Node, error) {
	y := im.of[cost]
	if y == nil {
		return nil, fmt.Errorf("gorgonia: grad: %v was not imported: pass it to Import", cost)
	}
	xs := make([]*autodiff.Node, len(wrt))
	for i, w := range wrt {
		if xs[i] = im.of[w]; xs[i] == nil {
			return nil, fmt.Errorf("gorgonia: grad: no imported output depends on %s: leave it out, or import a node that does", title(w))
		}
	}
	grads := autodiff.Grad(y, xs...)
	for i, g := range grads {
		if err := g.Err(); err != nil {
			return nil, fmt.Errorf("gorgonia: the gradient of %v with respect to %s: %w", cost, title(wrt[i]), err)
		}
	}
	return grads, nil
}

// importer is the state of one Import.
type importer struct {
	of     map[*G.Node]*autodiff.Node
	inputs []*G.Node
	names  map[*G.Node]string // names of the inputs
	taken  map[string]bool
	real   *G.Node        // first real node, which sets the precision
	opaque *autodiff.Node // last opaque step, which the next one waits for
}

func newImporter() *importer {
	return &importer{of: map[*G.Node]*autodiff.Node{}, names: map[*G.Node]string{}, taken: map[string]bool{}}
}

func (im *importer) bits() int {
	if im.real != nil && im.real.Dtype() == gt.Float32 {
		return 32
	}
	return 64
}

// add lowers outs and what they need.
func (im *importer) add(outs ...*G.Node) ([]*G.Node, error) {
	known := make(map[*G.Node]bool, len(im.of))
	for n := range im.of {
		known[n] = true
	}
	list, err := order(outs, known)
	if err != nil {
		return nil, err
	}
	im.nameInputs(list)
	for _, n := range list {
		if err := im.checkType(n); err != nil {
			return nil, err
		}
		if im.of[n], err = im.lower(n, children(n)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// checkType returns an error for elements other than reals of one precision, integers or truth
// values.
func (im *importer) checkType(n *G.Node) error {
	t, err := dtypeOf(n)
	switch {
	case err != nil:
		return err
	case t == gt.Int || t == gt.Bool:
		return nil
	case t != gt.Float64 && t != gt.Float32:
		return fmt.Errorf("gorgonia: import: %s holds %v: want float64, float32, int or bool", title(n), t)
	case im.real == nil:
		im.real = n
	case im.real.Dtype() != t:
		return fmt.Errorf("gorgonia: import: %s holds %v, but %s holds %v: use one precision in a graph", title(im.real), im.real.Dtype(), title(n), t)
	}
	return nil
}

// dtypeOf returns the element type; Gorgonia panics where there is none.
func dtypeOf(n *G.Node) (t gt.Dtype, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("gorgonia: import: %q computes no value: import a node that has one", n.Name())
		}
	}()
	return n.Dtype(), nil
}
