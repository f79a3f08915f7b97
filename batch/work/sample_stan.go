// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/stan"
)

// sampleStan samples the posterior of one program of the Stan language with the data of every file.
type sampleStan struct {
	Program    string `yaml:"program" json:"program"`
	Files      Texts  `yaml:"files" json:"-"`                 // data, one file an item
	Common     string `yaml:"common" json:"common,omitempty"` // file of variables that all items have
	Quantities Texts  `yaml:"quantities" json:"quantities"`   // columns of the results. Default: the parameters, with the sizes of the first file
	sampler    `yaml:",inline"`
	Keep       bool `yaml:"keep_draws" json:"keep_draws"` // whether to keep the draws, one netCDF file per item

	Source string `yaml:"-" json:"source"` // the program with the files that it includes
}

// mostQuantities is the largest number of quantities in results.
const mostQuantities = 200

func (s *sampleStan) check() error {
	if err := complete(&s.sampler, sampler{}); err != nil {
		return err
	}
	if s.Program == "" {
		return errors.New("program is missing: name a file MODEL.stan")
	}
	return nil
}

// block is 1: an item takes long.
func (s *sampleStan) block() int64 { return 1 }

// resolve reads the program, and compiles it with the first file of data, so that mistakes in it are told now.
func (s *sampleStan) resolve(p place, h *batch.Header) error {
	files, err := p.files(s.Files)
	if err != nil {
		return err
	}
	if s.Common != "" && !filepath.IsAbs(s.Common) {
		if s.Common, err = p.relative(filepath.Join(p.folder, s.Common)); err != nil {
			return err
		}
	}
	if !filepath.IsAbs(s.Program) {
		if s.Program, err = p.relative(filepath.Join(p.folder, s.Program)); err != nil {
			return err
		}
	}
	name := located(p.manifest, s.Program)
	text, err := foreign.ReadFile(name)
	if err != nil {
		return err
	}
	if s.Source, err = stan.Expand(string(text), func(include string) (string, error) {
		b, err := foreign.ReadFile(filepath.Join(filepath.Dir(name), include))
		return string(b), err
	}); err != nil {
		return fmt.Errorf("%s: %w", s.Program, err)
	}
	post, err := s.posterior(p.manifest, files[0], h.Seed, ad.CPU{Threads: 1})
	if err != nil {
		return err
	}
	if len(s.Quantities) == 0 {
		s.Quantities = post.ParameterNames()
	}
	if n := len(s.Quantities); n > mostQuantities {
		return fmt.Errorf("the program has %d parameters, and results have at most %d quantities: list some as quantities, and keep_draws for all", n, mostQuantities)
	}
	for _, q := range s.Quantities {
		if !slices.Contains(post.Names(), q) {
			return fmt.Errorf("quantities: the program has no %s with the data of %s: choose from %v", q, files[0], post.Names()[:min(20, post.Len())])
		}
	}
	return nil
}

func (s *sampleStan) list(p place, add adder) error {
	files, err := p.files(s.Files)
	for _, f := range files {
		if err == nil {
			err = add(f, 0, 1)
		}
	}
	return err
}

// inputs is the file of variables that all items have.
func (s *sampleStan) inputs(string) (names []string, err error) {
	if s.Common != "" {
		names = append(names, s.Common)
	}
	return names, nil
}

// posterior compiles the program with the data of a file.
func (s *sampleStan) posterior(folder, file string, seed uint64, on ad.Backend) (*stan.Posterior, error) {
	p, err := stan.Parse(filepath.Base(s.Program), s.Source, stan.Settings{Deprecated: true})
	if err != nil {
		return nil, err
	}
	names := []string{file}
	if s.Common != "" {
		names = append(names, s.Common)
	}
	all, table, err := stan.ReadFiles(names, func(name string) ([]byte, error) { return foreign.ReadFile(located(folder, name)) })
	if err != nil {
		return nil, err
	}
	if table {
		p.CountRows(all)
	}
	post, err := p.Compile(all, stan.CompileSettings{Backend: on, Seed: seed})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return post, nil
}

func (s *sampleStan) open(m *batch.Manifest, env Env) (batch.Task, error) {
	t := &sampleStanTask{sampleStan: s, m: m, env: env}
	if s.Keep {
		t.dir = filepath.Join(env.Folder, "draws")
		return t, os.MkdirAll(t.dir, 0o777)
	}
	return t, nil
}

type sampleStanTask struct {
	*sampleStan
	m   *batch.Manifest
	env Env
	dir string // of draws; empty if they are not kept
}

// Columns returns the file of each item, and what is kept of its posterior.
func (t *sampleStanTask) Columns() []batch.Column {
	return append([]batch.Column{{Name: "file", Kind: batch.Text}}, posteriorColumns(&t.sampler, t.Quantities, make([]string, len(t.Quantities)))...)
}

// Do samples files one after another.
func (t *sampleStanTask) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	for i := range items.Count {
		r, err := t.one(ctx, items.Source, items.Item+i)
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

func (t *sampleStanTask) one(ctx context.Context, source string, item int64) (r batch.Record, err error) {
	seed := batch.Seed(t.m.Seed, item)
	post, err := t.posterior(t.m.Folder(), source, seed, t.env.Backend)
	if err != nil {
		return r, err
	}
	cfg := t.Config(seed)
	cfg.Parallel = t.env.Threads
	fit, err := infer.Sample(ctx, post, cfg)
	if err != nil {
		return r, err
	}
	v := check.Unjudged("no distribution statement that can be judged has data on its left side", "write y ~ normal(...) for what was measured")
	if post.Observations() != nil {
		if v, err = fit.CheckModel(infer.CheckSettings{}); err != nil {
			return r, err
		}
	}
	kept, err := keepDraws(t.dir, item, fit)
	if err != nil {
		return r, err
	}
	r = batch.Record{Item: item, Texts: []string{source}}
	addPosterior(&r, &t.sampler, fit, v, t.Quantities, nil, kept)
	if n, first := post.Failures(); n > 0 {
		r.Texts[len(r.Texts)-1] = fmt.Sprintf("generated quantities are NaN at %d draws: %v", n, first)
	}
	return r, nil
}

func (s *sampleStan) judge(r *batch.Record) (float64, string) { return judgeChains(r) }

func (s *sampleStan) values() []string { return s.Quantities }
