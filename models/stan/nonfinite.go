// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/stan/internal/stage"
)

var _ infer.Explainer = (*Posterior)(nil)

// causes says what functions make of a value that they cannot take, by the text of a call.
var causes = []struct{ call, says string }{
	{"cholesky_decompose(", "the matrix is not positive definite there: add a small number such as 1e-8 to its diagonal"},
	{"inverse_spd(", "the matrix is not positive definite there: add a small number such as 1e-8 to its diagonal"},
	{"multi_normal(", "the covariance matrix may not be positive definite there: add a small number such as 1e-8 to its diagonal"},
	{"log(", "the logarithm of a number below 0 is not a number: declare a lower bound for what it is taken of"},
	{"sqrt(", "the square root of a number below 0 is not a number: declare a lower bound for what it is taken of"},
}

// Explain names the first statement whose part of the log density is not finite at an unconstrained point, and the first assignment of a
// value that is not a number there; it returns "" if there is neither. It is the method of infer.Explainer.
func (p *Posterior) Explain(q []float64) string {
	var parts, quoted []string
	if i, x := p.firstNot(p.terms, q, func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }); i >= 0 {
		at := p.machine.Where(p.terms[i])
		parts, quoted = append(parts, fmt.Sprintf("the statement that gives %g is %s", x, at)), append(quoted, at)
	}
	if i, _ := p.firstNot(p.assigned, q, func(x float64) bool { return !math.IsNaN(x) }); i >= 0 {
		at := p.machine.Where(p.assigned[i])
		parts, quoted = append(parts, "the first value that is not a number is that of "+at), append(quoted, at)
	}
	if len(quoted) == 0 {
		return ""
	}
	for _, c := range causes {
		if strings.Contains(quoted[len(quoted)-1], c.call) {
			parts = append(parts, c.says)
			break
		}
	}
	return strings.Join(parts, "; ")
}

// firstNot returns the first term with an element that is not as it should be, and the element; -1 if there is none.
func (p *Posterior) firstNot(terms []stage.Term, q []float64, fine func(x float64) bool) (int, float64) {
	nodes := make([]*ad.Node, len(terms))
	for i, t := range terms {
		nodes[i] = t.Node
	}
	if len(nodes) == 0 || len(p.inputs) == 0 {
		return -1, 0
	}
	program, err := ad.Compile(nodes, ad.Settings{Inputs: p.inputs, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return -1, 0
	}
	state := program.NewState()
	copy(state.InputSpan(0, len(p.inputs)), q)
	if state.Run() != nil {
		return -1, 0
	}
	for i := range nodes {
		out := state.Output(i)
		if j := slices.IndexFunc(out, func(x float64) bool { return !fine(x) }); j >= 0 {
			return i, out[j]
		}
	}
	return -1, 0
}
