// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/tensor"
)

// Likelihood holds the pointwise log-likelihoods of one model, for diag.LOO and
// diag.WAIC.
type Likelihood struct {
	Name     string        // name of the file
	Variable string        // name of the observed variable
	X        [][][]float64 // log-likelihoods by [chain][draw][observation]
	Data     []float64     // observed values; nil if they are not known

	numbered bool // whether the file counts observations from 1
}

// SeveralError says that there are log-likelihoods for several variables, so one must be
// chosen by name.
type SeveralError struct{ Names []string }

// Error lists the variables.
func (e *SeveralError) Error() string {
	return fmt.Sprintf("there are log-likelihoods of %s: name one of them", strings.Join(e.Names, ", "))
}

// Likelihood returns the log-likelihoods of an observed variable, from the group
// log_likelihood, or the draws of log_lik, which an empty name prefers. The name may
// also be empty if there is only one variable; if there are several, the error is a
// *SeveralError.
func (s *Source) Likelihood(variable string) (*Likelihood, error) {
	tree, err := s.AsTree()
	if err != nil {
		return nil, err
	}
	v, err := likelihoodOf(tree, variable)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	l := &Likelihood{Name: s.Name, Variable: v.Name, X: byDraw(v)}
	if tree.Has("observed_data") {
		if d, err := tree.Group("observed_data"); err == nil {
			if y := observedBy(d.Vars(), v); y != nil {
				l.Data = y.Floats()
			}
		}
	}
	l.numbered = s.Tree == nil
	return l, nil
}

// Observation returns the name of observation i as the file has it: log_lik.5 in a CSV file of CmdStan, which counts from 1, and
// y[4] elsewhere.
func (l *Likelihood) Observation(i int) string {
	if l.numbered {
		return fmt.Sprintf("%s.%d", l.Variable, i+1)
	}
	return fmt.Sprintf("%s[%d]", l.Variable, i)
}

// likelihoodOf finds the variable: log_lik among the draws, which a program of the Stan language computes of all its data, censored ones
// too, or else one of the group log_likelihood.
func likelihoodOf(tree *tensor.DataTree, name string) (*tensor.Variable, error) {
	var found []tensor.Variable
	if tree.Has("posterior") && (name == "" || name == "log_lik") {
		g, err := tree.Group("posterior")
		if err != nil {
			return nil, err
		}
		if v := g.Var("log_lik"); v != nil {
			found = append(found, *v)
		}
	}
	if len(found) == 0 && tree.Has("log_likelihood") {
		g, err := tree.Group("log_likelihood")
		if err != nil {
			return nil, err
		}
		found = g.Vars()
	}
	var names []string
	for i, v := range found {
		if v.Name == name || name == "" && len(found) == 1 {
			if len(v.Shape) < 2 || v.Dims[0] != "chain" || v.Dims[1] != "draw" || v.Floats() == nil {
				return nil, fmt.Errorf("the log-likelihood %s has the axes %v: want numbers with the axes chain and draw", v.Name, v.Dims)
			}
			return &found[i], nil
		}
		names = append(names, v.Name)
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("there are no log-likelihoods: want a group log_likelihood, or log_lik among the draws of CmdStan, which a program of the Stan language computes in generated quantities")
	case name == "":
		return nil, &SeveralError{Names: names}
	}
	return nil, fmt.Errorf("there is no log-likelihood of %q: the observed variables are %s", name, strings.Join(names, ", "))
}

// observedBy finds the data of a log-likelihood: the variable of its name, or, for log_lik, the only one if it has as many numbers.
func observedBy(data []tensor.Variable, v *tensor.Variable) *tensor.Variable {
	for i, y := range data {
		if y.Name == v.Name || v.Name == "log_lik" && len(data) == 1 && len(y.Floats())*v.Shape[0]*v.Shape[1] == len(v.Floats()) {
			return &data[i]
		}
	}
	return nil
}

// byDraw splits a variable into its draws.
func byDraw(v *tensor.Variable) [][][]float64 {
	flat, chains, draws := v.Floats(), v.Shape[0], v.Shape[1]
	n := len(flat) / max(1, chains*draws)
	out := make([][][]float64, chains)
	for c := range out {
		for d := range draws {
			at := (c*draws + d) * n
			out[c] = append(out[c], flat[at:at+n])
		}
	}
	return out
}
