package gorgonia

import (
	"fmt"
	"strings"

	G "gorgonia.org/gorgonia"
)

// wrongRules says how Gorgonia's derivative of an operation is wrong, by the
// name of the type or, for the elementwise and the matrix ones, by what it prints.
var wrongRules = map[string]string{
	"log2":      "the gradient of Log2 is ln2/x, want 1/(x ln2)",
	"invSqrt":   "the gradient of InverseSqrt is -1/(2y^3), want -y^3/2",
	"a ⊗ b":     "the gradient of OuterProd does not sum over the rows and columns",
	"dropoutOp": "the gradient of Dropout divides by the share that is dropped",
	"avgPoolOp": "the gradient of AveragePool2D reaches one element of each window",
}

// warnings names the forward nodes whose derivative, made by gorgonia.Grad, is
// among order and wrong.
func warnings(order []*G.Node) []string {
	var out []string
	seen := map[*G.Node]bool{}
	for _, d := range order {
		for _, f := range d.DerivOf() {
			if f.Graph() != d.Graph() || f.Op() == nil || isConstant(f) || seen[f] {
				continue
			}
			seen[f] = true
			if len(f.DerivOf()) > 0 {
				out = append(out, fmt.Sprintf("%v: second derivatives made by gorgonia.Grad are wrong: use NewTrainer or Imported.Grad", f))
			} else if why := wrongRule(f.Op()); why != "" {
				out = append(out, fmt.Sprintf("%v: %s: use NewTrainer or Imported.Grad", f, why))
			}
		}
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
