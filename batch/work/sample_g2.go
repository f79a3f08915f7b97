// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/g2"
)

// sampleG2 samples the posterior of every bin of result files, with all its chains in one item.
type sampleG2 struct {
	Files   Texts         `yaml:"files" json:"-"`
	Bins    binList       `yaml:"bins" json:"bins,omitempty"`
	Curve   g2Config      `yaml:",inline" json:"g2"`
	Old     setting.Texts `yaml:"-" json:"priors,omitempty"` // priors as older manifests name them
	sampler `yaml:",inline"`
	Keep    bool `yaml:"keep_draws" json:"keep_draws"` // whether to keep the draws, one netCDF file per bin
}

func (s *sampleG2) check() error {
	if err := complete(&s.sampler, g2.Sampling()); err != nil {
		return err
	}
	model, _, err := g2Settings(&s.Curve, Env{})
	if err == nil && model.Of == "q" {
		err = &setting.Error{Name: "model", Text: model.Name + " describes tau as a function of q: fit it (work: fit g2) and sample one of its curves (work: chains)"}
	}
	return err
}

// block is 1: an item takes long.
func (s *sampleG2) block() int64 { return 1 }

func (s *sampleG2) list(p place, add adder) error {
	return listBins(p, s.Files, s.Bins, false, add)
}

func (s *sampleG2) open(m *batch.Manifest, env Env) (batch.Task, error) {
	if s.Curve.Priors == nil {
		s.Curve.Priors = s.Old
	}
	model, set, err := g2Settings(&s.Curve, env)
	if err != nil {
		return nil, err
	}
	t := &sampleG2Task{sampleG2: s, m: m, model: model, set: set, threads: env.Threads}
	if s.Keep {
		t.dir = filepath.Join(env.Folder, "draws")
		return t, os.MkdirAll(t.dir, 0o777)
	}
	return t, nil
}

type sampleG2Task struct {
	*sampleG2
	m       *batch.Manifest
	model   g2.Model
	set     g2.Settings
	threads int
	files   curveFiles
	dir     string // of draws; empty if they are not kept
}

// quantities are the names of the columns: all parameters of the model, and sigma, which is sampled where the
// errors are not known.
func (s *sampleG2) quantities(model g2.Model) (names, units []string) {
	for _, p := range model.Params {
		names, units = append(names, p.Name), append(units, p.Unit)
	}
	return append(names, "sigma"), append(units, "")
}

// Columns returns the place of each bin, and what is kept of its posterior.
func (t *sampleG2Task) Columns() []batch.Column {
	names, units := t.quantities(t.model)
	return append([]batch.Column{{Name: "file", Kind: batch.Text}, {Name: "bin", Kind: batch.Integer}, {Name: "q", Unit: "1/Å"}, {Name: "phi", Unit: "°"}}, posteriorColumns(&t.sampler, names, units)...)
}

// Do samples bins one after another.
func (t *sampleG2Task) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	curves, err := t.files.open(path(t.m, items.Source))
	if err != nil {
		return err
	}
	for i := range items.Count {
		r, err := t.one(ctx, curves, items.Source, int(items.Row+i)+1, items.Item+i)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r = batch.Record{Item: items.Item + i, Err: err.Error()}
		}
		put(r)
	}
	return nil
}

func (t *sampleG2Task) one(ctx context.Context, curves []g2.Curve, source string, bin int, item int64) (r batch.Record, err error) {
	curve, err := pick(curves, bin)
	if err != nil {
		return r, err
	}
	seed := batch.Seed(t.m.Seed, item)
	post, err := ofCurve(ctx, t.model, t.set, curve, t.Chains, seed)
	if err != nil {
		return r, err
	}
	cfg := t.Config(seed)
	cfg.Init, cfg.Parallel = post.starts, t.threads
	fit, err := infer.Sample(ctx, post.Posterior, cfg)
	if err != nil {
		return r, err
	}
	v, err := post.check(fit)
	if err != nil {
		return r, err
	}
	kept, err := keepDraws(t.dir, item, fit)
	if err != nil {
		return r, err
	}
	r = batch.Record{Item: item, Numbers: []float64{float64(bin), curve.Q, curve.Phi}, Texts: []string{source}}
	names, _ := t.quantities(t.model)
	addPosterior(&r, &t.sampler, fit, v, names, t.set.Fixed, kept)
	return r, nil
}

func (s *sampleG2) judge(r *batch.Record) (float64, string) { return judgeChains(r) }

func (s *sampleG2) values() []string {
	model, err := g2.ByName(s.Curve.Model)
	if err != nil {
		return nil
	}
	names, _ := s.quantities(model)
	return names
}
