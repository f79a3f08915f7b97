// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Evidence returns the log of the probability of the data under the formula and the priors of its parameters, by tempered Monte Carlo (infer.SMC). Bounds with two ends stand for a uniform
// prior. It returns an error if a parameter has neither, or if the errors of Y are unknown and have no prior, as the evidence then depends on an arbitrary factor.
func (p *Problem) Evidence(ctx context.Context, seed uint64) (*infer.Evidence, error) {
	f, err := p.formula()
	if err != nil {
		return nil, fmt.Errorf("expr: %w", err)
	}
	var open []string
	for _, name := range f.Names() {
		_, column := p.Data[name]
		_, fixed := p.Fixed[name]
		b, bounded := p.Bounds[name]
		whole := bounded && !math.IsInf(b[0], 0) && !math.IsInf(b[1], 0)
		if !column && !fixed && p.Tied[name] == "" && p.Priors[name] == "" && !whole {
			open = append(open, name)
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("expr: the evidence of %q needs a prior of all parameters, and %s %s none: give one, or bounds with two ends", p.Expr, errtext.Few(open, 6), errtext.Agree(len(open), "has", "have"))
	}
	if p.Sigma == "" || p.Absolute != nil && !*p.Absolute {
		return nil, fmt.Errorf("expr: the evidence of %q needs the errors of %s, as without them the probability of the data has an arbitrary factor: give sigma, or sample with a prior of sigma", p.Expr, p.Y)
	}
	own := *p
	own.Start, own.Derived, own.Flat, own.Groups = nil, nil, nil, map[string]Group{}
	for name, over := range f.Indices() {
		own.Groups[name] = Group{Over: over}
	}
	m, err := own.Model()
	if err != nil {
		return nil, err
	}
	post, err := m.Compile()
	if err != nil {
		return nil, fmt.Errorf("expr: %w", err)
	}
	fit, err := infer.Sample(ctx, post, infer.Settings{Method: infer.SMC, Chains: 4, Draws: 500, Seed: seed})
	if err != nil {
		return nil, fmt.Errorf("expr: the evidence of %q: %w", p.Expr, err)
	}
	e := fit.Evidence()
	if e == nil {
		return nil, fmt.Errorf("expr: the evidence of %q was not found: %s", p.Expr, strings.TrimSpace(fit.Diagnose().String()))
	}
	return e, nil
}
