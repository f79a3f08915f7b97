// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// What is integrated or summed out is found at a few hundred places, and the posterior may be elsewhere. At every sixteenth draw the log density is therefore compared with
// that of the model as declared.
const (
	drawsPerLook = 16
	// mostApart is the difference of log densities that cannot matter, beside 1e-11 of their size.
	mostApart = 1e-3
)

// errApart means that parameters were integrated out of a density that is not as it seemed.
var errApart = errors.New("infer: the log density of the model differs from the one with parameters integrated out")

// agree compares log densities where the chain is.
func (c *chain) agree() error {
	if c.done%drawsPerLook != 0 {
		return nil
	}
	m := marginalOf(c.target)
	full := declaredOf(c.target)
	post, _ := full.(*Posterior)
	if m == nil && (post == nil || post.latent == nil) {
		return nil
	}
	both := make([]float64, 2*c.width())
	q, g := both[:c.width()], both[c.width():]
	change, err := c.all(c.p.Q, q)
	if err != nil {
		return err
	}
	if m != nil {
		lp, err := full.LogProbGrad(q, g)
		if err != nil && !hamiltonian.Recoverable(err) {
			return err
		}
		if differ(lp, c.p.Lp+change, math.Abs(change)) {
			return fmt.Errorf("%w: it is %.9g at a draw, and should be %.9g with %s drawn from a normal distribution: set Settings.NoMarginals, or --coordinates declared", errApart, lp, c.p.Lp+change, joined(m.names()))
		}
	}
	if post == nil || post.latent == nil {
		return nil
	}
	return post.labelsAgree(q)
}

// canBeginAgain reports whether a run in which log densities differ can be repeated with all parameters left to the sampler: one that was resumed or goes on from another, or
// whose draws went into a sink that is not told of a beginning, cannot.
func (c *Settings) canBeginAgain() bool {
	return c.Resume == "" && c.From == nil && (c.Sink.Write == nil || c.Sink.Open != nil)
}

// withAll returns the settings of the repetition, where why says what was wrong.
func (c Settings) withAll(why string) Settings {
	c.Laplace, c.NoMarginals, c.Checkpoint.Overwrite, c.kept = false, true, true, why
	return c
}

// differ reports whether two log densities differ by more than rounding.
func differ(a, b, size float64) bool {
	return !linalg.Finite(a) || !linalg.Finite(b) || !(math.Abs(a-b) <= mostApart+1e-11*(math.Abs(a)+math.Abs(b)+size))
}

// labelsAgree compares the log density with that of the tables by which discrete parameters were summed out, at the unconstrained draw q and labels drawn there.
func (p *Posterior) labelsAgree(q []float64) error {
	s, err := p.sums(q)
	if err != nil {
		return nil // a draw at which nothing can be computed has none to compare
	}
	k := len(p.model.params)
	if p.direct == nil {
		p.direct = graph.State(p.latent.direct, k, p.data)
	}
	if k > 0 {
		copy(p.direct.InputSpan(0, k), q)
	}
	src := tensor.NewStream(seedOf(q), purposeLabels, 1)
	direct, sum, size, err := s.compare(p.direct, k+len(p.data), &src)
	if err != nil || !linalg.Finite(direct) || !linalg.Finite(sum) || math.Abs(direct-sum) <= mostApart+1e-11*size {
		return nil
	}
	return s.e.separate(direct, sum)
}

// compare draws labels and returns the log density of the terms by a program for given labels, which are its inputs from number first on, and by the tables.
func (s *summand) compare(at *ad.State, first int, src *tensor.Stream) (direct, sum, size float64, err error) {
	setting, combinations := s.e.sum.Draw(&s.Tables, src)
	for i, v := range s.e.values(setting, combinations) {
		copy(at.Input(first+i), v)
	}
	if err := at.Run(); err != nil {
		return 0, 0, 0, err
	}
	sum, size = s.Rest[setting], 1
	for i := range s.e.terms {
		for _, v := range at.Output(i) {
			direct, size = direct+v, size+math.Abs(v)
		}
	}
	for k, g := range combinations {
		for u, c := range g {
			sum += s.Groups[setting][k].Joint[c][u]
		}
	}
	return direct, sum, size, nil
}

// separate describes terms that do not fall apart.
func (e *elimination) separate(direct, sum float64) error {
	return latentFault("the log density is %.9g at values of the discrete parameters %s for which its separate terms give %.9g, so that they do not fall apart as they seemed to", direct, e.names(others(nil, len(e.latents))), sum)
}
