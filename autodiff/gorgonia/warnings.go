// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"
	"slices"
	"strings"

	G "gorgonia.org/gorgonia"
)

// wrongRules says how Gorgonia's derivative of an operation is wrong, by the
// name of the type or, for the elementwise and the matrix ones, by what it prints.
// Where a derivative is a single operation of Gorgonia, as those of poolings, of
// Sparsemax, CTCLoss and ByIndices are, it is imported by rules of this package
// and right.
var wrongRules = map[string]string{
	"log2":      "the gradient of Log2 is ln2/x, want 1/(x ln2)",
	"invSqrt":   "the gradient of InverseSqrt is -1/(2y^3), want -y^3/2",
	"a ⊗ b":     "the gradient of OuterProd does not sum over the rows and columns",
	"dropoutOp": "the gradient of Dropout divides by the share that is dropped",
	"maxOp":     "the gradient of Max counts each of several equal largest elements in full",
}

const useOurs = "use NewTrainer or Imported.Grad"

// warnings names the forward nodes whose derivative, made by gorgonia.Grad, is
// among list and wrong, and the statements that TapeMachine would run.
func warnings(list []*G.Node) []string {
	out := statements(list)
	derived := map[*G.Node]bool{}
	for _, d := range list {
		for _, f := range d.DerivOf() {
			if f.Graph() != d.Graph() || isConstant(f) || derived[f] {
				continue
			}
			derived[f] = true
			if isInput(f) {
				continue
			}
			if len(f.DerivOf()) > 0 {
				out = append(out, fmt.Sprintf("%v: second derivatives made by gorgonia.Grad are wrong: %s", f, useOurs))
			} else if why := wrongRule(f.Op()); why != "" {
				out = append(out, fmt.Sprintf("%v: %s: %s", f, why, useOurs))
			}
		}
	}
	if len(derived) > 0 {
		out = slices.Concat(out, leftOut(list, derived), disordered(list))
	}
	return out
}

func wrongRule(op G.Op) string {
	switch name := opName(op); name {
	case "elemUnaryOp", "linAlgBinOp":
		return wrongRules[strings.TrimSpace(op.String())]
	default:
		return wrongRules[name]
	}
}

// leftOut names the uses of At between differentiated nodes and the outputs: gorgonia.Grad treats
// the argument of At as flat.
func leftOut(list []*G.Node, derived map[*G.Node]bool) []string {
	var out []string
	behind := map[*G.Node]bool{} // forward nodes that depend on derived ones
	for _, n := range graphOf(list) {
		if len(n.DerivOf()) > 0 {
			continue
		}
		behind[n] = derived[n] || slices.ContainsFunc(children(n), func(k *G.Node) bool { return behind[k] })
		if behind[n] && !isInput(n) && opName(n.Op()) == "atOp" {
			out = append(out, fmt.Sprintf("%v: gorgonia.Grad leaves out what goes through At: %s", n, useOurs))
		}
	}
	return out
}

// disordered tells of nodes that were removed from the graph: IDs count all that
// were ever in it.
func disordered(list []*G.Node) []string {
	all, made := graphOf(list), 0
	for _, n := range all {
		made = max(made, int(n.ID())+1)
	}
	if made == len(all) {
		return nil
	}
	return []string{fmt.Sprintf("the graph lacks %d of its %d nodes (BinaryXent removes some): gorgonia.Grad may have taken the others in a wrong order: %s", made-len(all), made, useOurs)}
}

// statements names the Sets of inputs that list holds.
func statements(list []*G.Node) []string {
	var out []string
	for _, n := range graphOf(list) {
		if isInput(n) || opName(n.Op()) != "letOp" {
			continue
		}
		if kids := children(n); len(kids) == 2 && slices.Contains(list, kids[0]) {
			out = append(out, fmt.Sprintf("Set is not run: bind %s to the value of %v with Let", title(kids[0]), kids[1]))
		}
	}
	return out
}

// graphOf returns all nodes of the graph that list is of.
func graphOf(list []*G.Node) G.Nodes {
	for _, n := range list {
		if n.Graph() != nil {
			return n.Graph().AllNodes()
		}
	}
	return nil
}
