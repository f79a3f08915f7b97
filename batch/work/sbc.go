// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/setting"
)

// sbc makes the fits of a simulation-based calibration: one item is one data set drawn from the prior, and
// the ranks of its parameters in its posterior.
type sbc struct {
	Problem     string `yaml:"problem" json:"-"`
	Calibration `yaml:",inline"`

	Source string `yaml:"-" json:"source"`
	SHA256 string `yaml:"-" json:"sha256"`
}

// Calibration is what a user sets of a calibration: by flags of sbc, or by keys of work lists.
type Calibration struct {
	Fits   int `yaml:"fits" json:"fits" default:"1000" low:"10" high:"2147483647" about:"number of data sets to simulate and fit"`
	Ranks  int `yaml:"ranks" json:"ranks" default:"99" low:"1" high:"2147483647" about:"number of independent posterior draws to rank each prior draw among"`
	Warmup int `yaml:"warmup" json:"warmup" default:"1000" low:"1" high:"2147483647" about:"warm-up draws per fit, which adapt the sampler and are discarded"`
	Draws  int `yaml:"draws" json:"draws" default:"1000" low:"1" high:"2147483647" about:"draws to keep per fit"`
}

// Check sets what is zero to its default. Its errors are of type *setting.Error.
func (c *Calibration) Check() error {
	if err := setting.Complete(c); err != nil {
		return err
	}
	if c.Draws < c.Ranks {
		return &setting.Error{Name: "draws", Text: fmt.Sprintf("%d: want at least the number of ranks, %d", c.Draws, c.Ranks)}
	}
	return nil
}

func (s *sbc) check() error {
	if err := s.Calibration.Check(); err != nil {
		return err
	}
	if s.Problem == "" {
		return errors.New("problem is missing: name a JSON file, as for sample expr")
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
