// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/models/g2"
)

// sampler are the settings of chains that a configuration may give.
type sampler = setting.Sampler

// complete sets what was not given, as suits an analysis, and checks the rest.
func complete(s *sampler, own sampler) error {
	if s.Method == "smc" && (s.Warmup != 0 || s.TargetAccept != 0 || s.MaxTreeDepth != 0 || s.Coordinates != "") {
		return errors.New("sampler is smc, which has no warm-up and no trees: leave out warmup, target_accept, max_tree_depth and coordinates")
	}
	given := map[string]bool{}
	for _, v := range setting.Of(s) {
		given[v.Name] = !v.IsZero()
	}
	setting.Default(s, own, func(name string) bool { return given[name] })
	return setting.Complete(s)
}

// posterior is what chains sample, and what belongs to it.
type posterior struct {
	*infer.Posterior
	starts [][]float64 // of the chains; nil: anywhere
	check  func(fit *infer.Fit) (check.Verdict, error)
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

// posteriorColumns are the mean, standard deviation and quantiles of each quantity, the evidence if it is asked for, and the diagnostics of the chains and
// the model.
func posteriorColumns(s *sampler, names, units []string) (c []batch.Column) {
	for i, name := range names {
		for _, what := range []string{"", "_sd", "_q05", "_q50", "_q95"} {
			c = append(c, batch.Column{Name: name + what, Unit: units[i]})
		}
	}
	if s.Evidence {
		c = append(c, batch.Column{Name: "log_evidence"}, batch.Column{Name: "log_evidence_sd"})
	}
	return append(c, batch.Column{Name: "rhat"}, batch.Column{Name: "ess"}, batch.Column{Name: "divergent", Kind: batch.Integer}, batch.Column{Name: "chains_ok", Kind: batch.Integer},
		batch.Column{Name: "chains", Kind: batch.Text}, batch.Column{Name: "draws", Kind: batch.Text},
		batch.Column{Name: "model_p"}, batch.Column{Name: "model_ok", Kind: batch.Integer}, batch.Column{Name: "flags", Kind: batch.Text}, batch.Column{Name: "warnings", Kind: batch.Text})
}

// evidenceOf returns the evidence that the sampler found, or that of its draws.
func evidenceOf(fit *infer.Fit) (*infer.Evidence, error) {
	if e := fit.Evidence(); e != nil {
		return e, nil
	}
	return fit.BridgeEvidence()
}

// addPosterior fills posteriorColumns. Quantities that were not sampled have the value at which they are fixed; kept is the file of draws.
func addPosterior(r *batch.Record, s *sampler, fit *infer.Fit, v check.Verdict, names []string, fixed map[string]float64, kept string) {
	sum := fit.Summary()
	for _, name := range names {
		row := sum.Row(name)
		if row == nil {
			x := math.NaN()
			if at, ok := fixed[name]; ok {
				x = at
			}
			r.Numbers = append(r.Numbers, x, math.NaN(), x, x, x)
			continue
		}
		r.Numbers = append(r.Numbers, row.Mean, row.SD, row.Q05, row.Q50, row.Q95)
	}
	warning := ""
	if s.Evidence {
		e, err := evidenceOf(fit)
		if err != nil {
			e, warning = &infer.Evidence{Log: math.NaN(), Error: math.NaN()}, "there is no evidence: "+err.Error()
		}
		r.Numbers = append(r.Numbers, e.Log, e.Error)
	}
	rep := fit.Diagnose()
	r.Numbers = append(r.Numbers, sum.MaxRHat(), sum.MinESS(), float64(fit.Divergent()), truth(rep.OK()), v.P, truth(v.OK))
	r.Texts = append(r.Texts, rep.Verdict(), kept, kindsOf(v), warning)
}

// keepDraws writes the draws of an item into a folder and returns the name of the file; "" without a folder.
func keepDraws(dir string, item int64, fit *infer.Fit) (string, error) {
	if dir == "" {
		return "", nil
	}
	tree, err := fit.Data(infer.DataSettings{})
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("%09d.nc", item)
	return name, netcdf.Write(filepath.Join(dir, name), tree, netcdf.Settings{Overwrite: true})
}

// judgeChains takes the verdict about the chains, and then that about the model.
func judgeChains(r *batch.Record) (float64, string) {
	bad, why := verdictOf(r)
	if r.Numbers[len(r.Numbers)-3] == 0 {
		return bad + 1000, r.Texts[1]
	}
	return bad, why
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
