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
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/models/g2"
)

// sampler are the settings of chains that a configuration may give.
type sampler = setting.Sampler

// complete sets what was not given, with defaults that suit a kind of work, and checks the rest.
func complete(s *sampler, draws int) error {
	if s.Draws == 0 {
		s.Draws = draws
	}
	if s.TargetAccept == 0 {
		s.TargetAccept = 0.9
	}
	return setting.Complete(s)
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
