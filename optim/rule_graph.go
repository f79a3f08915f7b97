// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// UpdateNodes are the Nodes of one update by a Rule. Rate, Step and Momentum are scalars, so that
// one program serves all steps.
type UpdateNodes struct {
	X, G *ad.Node // parameters and gradient, as vectors
	// Memory holds as many vectors as Buffers returns. They are 0 before the first update.
	Memory []*ad.Node
	Rate   *ad.Node // learning rate
	Step   *ad.Node // number of the update, counted from 1
	// Momentum replaces the rule's momentum, or the decay of its mean of gradients, unless its
	// value is NaN. If it is nil, the rule's own is always used.
	Momentum *ad.Node
	// Decay multiplies the weight decay of each parameter; it is a vector. Nil means 1.
	Decay *ad.Node
}

// graphRule is a Rule that can be a graph.
type graphRule interface {
	Rule
	buffers(cycles bool) int
	nodes(u UpdateNodes) (x *ad.Node, memory []*ad.Node)
}

// graphRules are the rules that can be graphs. Each registers itself in its file.
var graphRules []graphRule

// graphRuleNames lists them in a sentence.
func graphRuleNames() string {
	var names []string
	for _, r := range graphRules {
		names = append(names, strings.TrimPrefix(fmt.Sprintf("%T", r), "optim."))
	}
	slices.Sort(names)
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Buffers returns the number of vectors that a rule keeps between updates when it is written as a
// graph. cycles says whether UpdateNodes.Momentum replaces the rule's momentum; a rule without
// momentum of its own then needs memory for it.
func Buffers(r Rule, cycles bool) (int, error) {
	g, ok := r.(graphRule)
	if !ok {
		return 0, fmt.Errorf("optim: %T cannot be written as a graph: use %s", r, graphRuleNames())
	}
	return g.buffers(cycles), nil
}

// Update returns the parameters and the memory after an update; the numbers are those of
// Descent.Step. All of it is elementwise, so that one pass over memory updates all parameters
// together, on the processor or on a device.
func Update(r Rule, u UpdateNodes) (x *ad.Node, memory []*ad.Node) {
	n, err := Buffers(r, u.Momentum != nil)
	if err == nil && n != len(u.Memory) {
		err = fmt.Errorf("optim: %T was given %d vectors of memory: want %d, as Buffers says", r, len(u.Memory), n)
	}
	if err != nil {
		return ad.Fail(err), nil
	}
	return r.(graphRule).nodes(u)
}

// decayed returns the gradient with the L2 penalty.
func (u *UpdateNodes) decayed(weight float64) *ad.Node {
	if weight == 0 {
		return u.G
	}
	return ad.Add(u.G, ad.Mul(u.decay(weight), u.X))
}

// decay returns the weight decay of parameters.
func (u *UpdateNodes) decay(weight float64) *ad.Node {
	if u.Decay != nil {
		return ad.Scale(weight, u.Decay)
	}
	return ad.Scalar(weight)
}

func (u *UpdateNodes) momentumOr(own float64) *ad.Node {
	if u.Momentum == nil {
		return ad.Scalar(own)
	}
	return ad.Where(ad.Equal(u.Momentum, u.Momentum), u.Momentum, ad.Scalar(own))
}

// mixed returns a x + (1-a) y.
func mixed(a, x, y *ad.Node) *ad.Node {
	return ad.Add(ad.Mul(a, x), ad.Mul(ad.Sub(ad.Scalar(1), a), y))
}

// moved returns x - rate d.
func (u *UpdateNodes) moved(x, rate, d *ad.Node) *ad.Node { return ad.Sub(x, ad.Mul(rate, d)) }
