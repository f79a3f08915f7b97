// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lockstep

import ad "github.com/euryale-dev/euryale/autodiff"

// at returns the log density and its gradient at the vector q of all parameters.
func (d *Density) at(q *ad.Node) (lp, g *ad.Node) {
	at := 0
	pieces := make([]*ad.Node, len(d.Parameters))
	for i, u := range d.Parameters {
		pieces[i] = ad.Reshape(ad.Slice(q, 0, at, at+u.Size()), u.Shape()...)
		at += u.Size()
	}
	out := ad.Substitute(d.Outputs, d.Parameters, pieces)
	for i, x := range out[1:] {
		pieces[i] = ad.Reshape(x, x.Size())
	}
	return splitSums(out[0]), ad.Concat(0, pieces...)
}

// splitSums returns a sum of sums with each of them split by total.
func splitSums(lp *ad.Node) *ad.Node {
	switch op := lp.Op(); {
	case op == nil:
	case op.Name == "add":
		return op.Apply(splitSums(lp.In()[0]), splitSums(lp.In()[1]))
	case op.Name == "sum" && len(lp.Shape()) == 0:
		return total(lp.In()[0])
	}
	return lp
}

// total returns the sum of all elements as a sum over the terms of n. A term that is the
// same for all elements, or in all lanes, then costs next to nothing.
func total(n *ad.Node) *ad.Node {
	if op := n.Op(); op != nil && (op.Name == "add" || op.Name == "sub") {
		x, y := n.In()[0], n.In()[1]
		x, y = total(ad.Broadcast(x, n.Shape()...)), total(ad.Broadcast(y, n.Shape()...))
		return op.Apply(x, y)
	}
	return ad.Sum(n)
}
