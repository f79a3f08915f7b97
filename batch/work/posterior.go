// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/models/g2"
)

// sampler are the settings of chains that a configuration may give.
type sampler struct {
	Chains int     `yaml:"chains" json:"chains"`
	Warmup int     `yaml:"warmup" json:"warmup"`
	Draws  int     `yaml:"draws" json:"draws"`
	Target float64 `yaml:"target_accept" json:"target_accept"`
	Depth  int     `yaml:"max_tree_depth" json:"max_tree_depth"`
}

// complete sets what was not given, and checks the rest.
func (s *sampler) complete(chains, draws int) error {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&s.Chains, chains)
	set(&s.Warmup, 1000)
	set(&s.Draws, draws)
	set(&s.Depth, 10)
	if s.Target == 0 {
		s.Target = 0.9
	}
	switch {
	case s.Chains < 1 || s.Chains > 1<<16:
		return fmt.Errorf("chains is %d: want 1 to %d", s.Chains, 1<<16)
	case s.Warmup < 1:
		return fmt.Errorf("warmup is %d: want at least 1", s.Warmup)
	case s.Draws < 1:
		return fmt.Errorf("draws is %d: want at least 1", s.Draws)
	case s.Depth < 1 || s.Depth > 20:
		return fmt.Errorf("max_tree_depth is %d: want 1 to 20", s.Depth)
	case !(s.Target > 0 && s.Target < 1):
		return fmt.Errorf("target_accept is %g: want a number between 0 and 1, such as 0.9", s.Target)
	}
	return nil
}

// config returns the settings of package infer.
func (s *sampler) config(seed uint64) infer.Config {
	return infer.Config{Chains: s.Chains, Warmup: s.Warmup, Draws: s.Draws, TargetAccept: s.Target, MaxTreeDepth: s.Depth, Seed: seed}
}

// posterior is what chains sample, and what belongs to it.
type posterior struct {
	*infer.Posterior
	starts [][]float64 // of the chains; nil: anywhere
	check  func(fit *infer.Fit) (check.Verdict, error)
}

// priors are distributions by name of the parameter, such as lognormal(-3, 1).
type priors map[string]string

func (p priors) into(s *g2.Settings) error {
	for name, text := range p {
		d, err := dist.Parse(text)
		if err != nil {
			return fmt.Errorf("the prior of %s is %q: want a distribution with its parameters, such as lognormal(-3, 1): %w", name, text, err)
		}
		s.Priors[name] = d
	}
	return nil
}

// ofCurve returns the posterior of a curve, with chains that start at its fit.
func ofCurve(ctx context.Context, model g2.Model, s g2.Settings, c g2.Curve, chains int, seed uint64) (*posterior, error) {
	plain := s
	plain.Priors = nil
	point, err := g2.FitOne(ctx, model, c, plain)
	if err != nil {
		return nil, err
	}
	if point.Status == "failed" {
		return nil, errors.New(point.Message)
	}
	m, err := g2.Posterior(model, c, s)
	if err != nil {
		return nil, err
	}
	post, err := m.CompileOn(s.Backend)
	if err != nil {
		return nil, err
	}
	starts, err := g2.Starts(post, point, s, chains, seed)
	if err != nil {
		return nil, err
	}
	return &posterior{post, starts, func(fit *infer.Fit) (check.Verdict, error) { return g2.CheckPosterior(model, c, s, fit) }}, nil
}

// readProblem reads a problem file, and its hash.
func readProblem(name string) (*expr.Problem, string, error) {
	text, err := foreign.ReadFile(name)
	if err != nil {
		return nil, "", err
	}
	p, err := expr.Parse(text)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	return p, hashOf(text), nil
}

// unchangedProblem reads a problem file that must have the given hash.
func unchangedProblem(name, sum string) (*expr.Problem, error) {
	p, now, err := readProblem(name)
	if err == nil && now != sum {
		err = fmt.Errorf("%s has changed since the manifest was made: make a new manifest", name)
	}
	return p, err
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// ofProblem returns the posterior of a problem file.
func ofProblem(name, sum string, env Env) (*posterior, error) {
	p, err := unchangedProblem(name, sum)
	if err != nil {
		return nil, err
	}
	m, err := p.Model()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	post, err := m.CompileOn(env.Backend)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &posterior{post, nil, func(fit *infer.Fit) (check.Verdict, error) { return fit.CheckModel(infer.CheckSettings{}) }}, nil
}

// kindsOf lists what the flags of a verdict are about.
func kindsOf(v check.Verdict) string {
	var kinds []string
	seen := map[string]bool{}
	for _, f := range v.Flags {
		if !seen[f.Kind] {
			seen[f.Kind] = true
			kinds = append(kinds, f.Kind)
		}
	}
	return strings.Join(kinds, "; ")
}
