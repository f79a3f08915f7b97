// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
)

// sbc makes the fits of a simulation-based calibration: one item is one data set drawn from the prior, and
// the ranks of its parameters in its posterior.
type sbc struct {
	Problem string `yaml:"problem" json:"-"`
	Fits    int    `yaml:"fits" json:"fits"`   // default 1000
	Ranks   int    `yaml:"ranks" json:"ranks"` // posterior draws to rank among. Default 99
	Warmup  int    `yaml:"warmup" json:"warmup"`
	Draws   int    `yaml:"draws" json:"draws"`

	Source string `yaml:"-" json:"source"`
	SHA256 string `yaml:"-" json:"sha256"`
}

func (s *sbc) check() error {
	for _, v := range []struct {
		name       string
		at         *int
		otherwise  int
		low, above int
	}{{"fits", &s.Fits, 1000, 10, math.MaxInt32}, {"ranks", &s.Ranks, 99, 1, math.MaxInt32}, {"warmup", &s.Warmup, 1000, 1, math.MaxInt32}, {"draws", &s.Draws, 1000, 1, math.MaxInt32}} {
		if *v.at == 0 {
			*v.at = v.otherwise
		}
		if *v.at < v.low || *v.at > v.above {
			return fmt.Errorf("%s is %d: want %d to %d", v.name, *v.at, v.low, v.above)
		}
	}
	if s.Problem == "" {
		return errors.New("problem is missing: name a JSON file, as for sample expr")
	}
	if s.Draws < s.Ranks {
		return fmt.Errorf("draws is %d: want at least the number of ranks, %d", s.Draws, s.Ranks)
	}
	return nil
}

func (s *sbc) resolve(p place, _ *batch.Header) error {
	files, err := p.files(Texts{s.Problem})
	if err != nil {
		return err
	}
	s.Source = files[0]
	if _, s.SHA256, err = readProblem(located(p.manifest, s.Source)); err != nil {
		return err
	}
	// The first draw from the prior tells whether there can be any.
	post, err := ofProblem(located(p.manifest, s.Source), s.SHA256, Env{}.completed(&batch.Manifest{}))
	if err == nil {
		_, err = post.Prior(1, 0)
	}
	return err
}

// block is a few fits in lock step.
func (s *sbc) block() int64 { return 16 }

func (s *sbc) list(_ place, add adder) error { return add(s.Source, 0, int64(s.Fits)) }

func (s *sbc) open(m *batch.Manifest, env Env) (batch.Task, error) {
	post, _, err := s.calibrated(m, env)
	if err != nil {
		return nil, err
	}
	return &sbcTask{sbc: s, seed: m.Seed, post: post, threads: env.Threads}, nil
}

// calibrated returns the posterior of the problem and what is left out of it.
func (s *sbc) calibrated(m *batch.Manifest, env Env) (*infer.Posterior, []Unranked, error) {
	name := path(m, s.Source)
	p, err := unchangedProblem(name, s.SHA256)
	if err != nil {
		return nil, nil, err
	}
	post, lost, err := Calibrated(p, env.Backend, s.Fits, m.Seed)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return post, lost, nil
}

type sbcTask struct {
	*sbc
	seed    uint64
	post    *infer.Posterior
	threads int
}

// Columns returns the ranks of the quantities and the number of divergent draws.
func (t *sbcTask) Columns() []batch.Column {
	var c []batch.Column
	for _, name := range t.post.Names() {
		c = append(c, batch.Column{Name: name, Kind: batch.Integer})
	}
	return append(c, batch.Column{Name: "divergent", Kind: batch.Integer})
}

// Do runs a group of fits in lock step.
func (t *sbcTask) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	_, err := infer.SBC(ctx, t.post, infer.SBCSettings{Fits: int(items.Count), First: int(items.Row), Draws: t.Ranks, Seed: t.seed,
		Sample: infer.Settings{Warmup: t.Warmup, Draws: t.Draws, Chains: 1, Seed: t.seed, Parallel: t.threads},
		Each: func(fit int, ranks []int, divergences int, err error) {
			r := batch.Record{Item: items.Item + int64(fit) - items.Row}
			if err != nil {
				r.Err = err.Error()
			} else {
				for _, v := range append(ranks, divergences) {
					r.Numbers = append(r.Numbers, float64(v))
				}
			}
			put(r)
		}})
	return err
}

// conclude tests the ranks.
func (s *sbc) conclude(g *Merged, env Env, _ string, each func(func(batch.Record) error) error) error {
	n := len(g.Columns) - 1
	var names []string
	for _, c := range g.Columns[:n] {
		names = append(names, c.Name)
	}
	ranks, err := diag.NewSBC(names, s.Ranks)
	if err != nil {
		return err
	}
	all := &infer.Calibration{Ranks: ranks}
	err = each(func(r batch.Record) error {
		if r.Err != "" {
			all.Failed = append(all.Failed, errors.New(r.Err))
			return nil
		}
		all.Fits++
		for i := range n {
			ranks.Ranks[i] = append(ranks.Ranks[i], int(r.Numbers[i]))
		}
		if r.Numbers[n] > 0 {
			all.Divergent++
		}
		return nil
	})
	if err != nil {
		return err
	}
	rep, err := all.Report()
	if err != nil {
		return err
	}
	g.Ranks, g.OK = all, rep.Diagnose().OK()
	_, lost, err := s.calibrated(g.Manifest, env)
	if err != nil {
		return err
	}
	g.Finding = Told(all)
	for _, u := range lost {
		g.Finding += "; " + u.String()
	}
	g.Finding += ". " + rep.Diagnose().Verdict()
	return nil
}
