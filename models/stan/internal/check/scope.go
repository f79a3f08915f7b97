// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"

	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
)

// elsewhere says where a name is declared that is not in scope; without such a place it suggests a name that is spelt almost like it.
func (c *checker) elsewhere(name string) string {
	for i, b := range c.prog.Blocks {
		if b == nil {
			continue
		}
		for _, s := range b.List {
			d, depth := declared(s, name, 0)
			if d == nil {
				continue
			}
			line := c.src.Line(d.Word)
			switch {
			case depth > 0 || i == syntax.Model:
				return fmt.Sprintf(" It is declared on line %d, and known only up to the end of the braces there: declare it before them, or in the transformed parameters block.", line)
			case i > c.block && c.block >= 0:
				return fmt.Sprintf(" It is declared on line %d, in the %s block, which comes later: move one of the two.", line, syntax.BlockNames[i])
			case c.block < 0:
				return fmt.Sprintf(" It is declared on line %d, in the %s block, and functions know their arguments only: pass it as one.", line, syntax.BlockNames[i])
			}
			return fmt.Sprintf(" It is declared on line %d, after this: move the declaration up.", line)
		}
	}
	if to := instead(name); to != "" {
		return to
	}
	return c.near(name)
}

// declared finds the declaration of a name in a statement, and how many braces are around it.
func declared(s syntax.Stmt, name string, depth int) (d *syntax.Declare, at int) {
	first := func(list ...syntax.Stmt) (*syntax.Declare, int) {
		for _, s := range list {
			if s == nil {
				continue
			}
			if d, at := declared(s, name, depth+1); d != nil {
				return d, at
			}
		}
		return nil, 0
	}
	switch s := s.(type) {
	case *syntax.Declare:
		if s.Name == name {
			return s, depth
		}
	case *syntax.Block:
		return first(s.List...)
	case *syntax.Profile:
		return first(s.Body)
	case *syntax.If:
		return first(s.Then, s.Else)
	case *syntax.For:
		return first(s.Body)
	case *syntax.Each:
		return first(s.Body)
	case *syntax.While:
		return first(s.Body)
	}
	return nil, 0
}

// positive are the arguments of distributions that have to be above 0, counted from 1.
var positive = map[string][]int{
	"normal": {2}, "student_t": {1, 3}, "cauchy": {2}, "double_exponential": {2}, "logistic": {2}, "gumbel": {2}, "lognormal": {2}, "skew_normal": {2},
	"exp_mod_normal": {2, 3}, "gamma": {1, 2}, "inv_gamma": {1, 2}, "exponential": {1}, "weibull": {1, 2}, "frechet": {1, 2}, "rayleigh": {1}, "beta": {1, 2},
	"pareto": {1, 2}, "chi_square": {1}, "inv_chi_square": {1}, "scaled_inv_chi_square": {1, 2}, "von_mises": {2}, "poisson": {1}, "neg_binomial": {1, 2},
	"neg_binomial_2": {1, 2}, "neg_binomial_2_log": {2}, "normal_id_glm": {4}, "neg_binomial_2_log_glm": {4}, "loglogistic": {1, 2},
}

// scales notes parameters without a lower bound that stand where a distribution wants a number above 0.
func (c *checker) scales(name string, args []syntax.Expr) {
	if len(c.funcs[name+"_lpdf"])+len(c.funcs[name+"_lpmf"]) > 0 || c.prog.Blocks[syntax.Parameters] == nil {
		return
	}
	for _, k := range positive[name] {
		if k > len(args) {
			return
		}
		x := args[k-1]
		if i, ok := x.(*syntax.Index); ok {
			x = i.X
		}
		n, ok := x.(*syntax.Name)
		if !ok {
			continue
		}
		for _, s := range c.prog.Blocks[syntax.Parameters].List {
			if d, ok := s.(*syntax.Declare); ok && d.Name == n.Name && d.Type.Lower == nil && unbounded[d.Type.Word] && !c.told[d] {
				c.told[d] = true
				c.note(args[k-1].At(), "Argument %d of %s has to be above 0, and the parameter %s is declared on line %d without a lower bound: the sampler runs into values that are refused. Declare it with <lower=0>.", k, name, n.Name, c.src.Line(d.Word))
			}
		}
	}
}

// unbounded are the words of types whose values are free without bounds.
var unbounded = map[string]bool{"real": true, "vector": true, "row_vector": true, "matrix": true}
