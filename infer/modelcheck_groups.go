// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
)

// fewestGroups is how many elements tell of the distribution that they were drawn from.
const fewestGroups = 6

// group is an array of parameters whose distribution has parameters of its own, as the effects
// of schools or subjects have. At a draw from the posterior of a right model its
// normal scores are independent and standard normal, like residuals.
type group struct {
	name   string
	labels []string
	axis   check.Axis
	// scores holds the scores of each draw.
	scores [][]float64
}

// groups lists those that can be judged.
func groups(tracks []*priorTrack) (out []group) {
	for _, t := range tracks {
		n := t.param.node.Size()
		if !t.varies || n < fewestGroups || slices.ContainsFunc(t.z, func(z []float64) bool { return slices.ContainsFunc(z, notFinite) }) {
			continue
		}
		g := group{name: t.param.name, scores: t.z, labels: (&quantity{t.param.name, t.param.node, t.param.dims}).columns()}
		if d := t.param.dims; len(d) == 1 && d[0].Values != nil {
			g.axis = check.Axis{Name: d[0].Name, Values: d[0].Values}
		} else {
			g.axis.Name = "the order of " + g.name
			for i := range n {
				g.axis.Values = append(g.axis.Values, float64(i+1))
			}
		}
		out = append(out, g)
	}
	return out
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// judge tests the scores at draw k. Level and scale of a group follow its elements, so
// both are taken out: the sum of squares tells nothing.
func (g *group) judge(k int, s check.Settings) (check.Verdict, error) {
	one := make([]float64, len(g.labels))
	for i := range one {
		one[i] = 1
	}
	v, err := check.Judge(check.Data{Z: g.scores[k], Relative: true, Jacobian: one, Names: []string{"the level of " + g.name},
		Labels: g.labels, Axes: []check.Axis{g.axis}}, s)
	name := func(list []check.Flag) {
		for i := range list {
			list[i].Kind += " of " + g.name
			list[i].Text = fmt.Sprintf("the elements of %s depart from their common distribution: %s", g.name, list[i].Text)
		}
	}
	name(v.Flags)
	name(v.Notes)
	for i := range v.Tests {
		v.Tests[i].Kind += " of " + g.name
	}
	return v, err
}

// together judges the groups at draw k beside the data, which v judged, each at its
// share of the level.
func (c *modelCheck) together(v check.Verdict, k int, share check.Settings) (check.Verdict, error) {
	parts := float64(1 + len(c.groups))
	for _, g := range c.groups {
		w, err := g.judge(k, share)
		if err != nil {
			return v, err
		}
		v.Flags, v.Notes, v.Tests = append(v.Flags, w.Flags...), append(v.Notes, w.Notes...), append(v.Tests, w.Tests...)
		v.OK = v.OK && w.OK
		if w.P < v.P || math.IsNaN(v.P) {
			v.P = w.P
		}
	}
	v.P = min(1, v.P*parts)
	for i := range v.Tests {
		v.Tests[i].Adjusted = min(1, v.Tests[i].Adjusted*parts)
	}
	return v, nil
}
