// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/euryale-dev/euryale/sim/assembly"
	"github.com/euryale-dev/euryale/viz"
)

// support draws the number of neurons that ever fired while a stimulus forms an assembly.
func support(w io.Writer, s size) (*viz.Figure, error) {
	l := viz.Lines{XLabel: "step", YLabel: "neurons that ever fired / k"}
	for _, beta := range []float64{0.001, 0.01, 0.025, 0.05, 0.1, 0.25} {
		b, err := s.brain(assembly.Settings{P: s.p, Seed: 1}, beta, []string{"S"}, []string{"A"})
		if err != nil {
			return nil, err
		}
		trace, err := b.Form("S", "A", s.steps)
		if err != nil {
			return nil, err
		}
		c := viz.Line{Name: fmt.Sprintf("β = %g", beta)}
		for t, r := range trace {
			c.X, c.Y = append(c.X, float64(t+1)), append(c.Y, float64(r[0].Support)/float64(s.k))
		}
		l.Curves = append(l.Curves, c)
		fmt.Fprintf(w, "  beta %-5g %5.2f k after 10 steps, %5.2f k after %d\n", beta, c.Y[9], c.Y[s.steps-1], s.steps)
	}
	return viz.Plots(fmt.Sprintf("An assembly forms: n = %d, k = %d, p = %g", s.n, s.k, s.p), l)
}

// association draws how two assemblies that fire together come to overlap in a third
// area.
func association(w io.Writer, s size) (*viz.Figure, error) {
	l := viz.Lines{XLabel: "joint steps", YLabel: "overlap / k"}
	for _, activity := range []assembly.Activity{assembly.Sticky, assembly.Silent} {
		c := viz.Line{Name: map[assembly.Activity]string{assembly.Sticky: "areas without input keep firing", assembly.Silent: "they fall silent"}[activity]}
		b, err := s.brain(assembly.Settings{P: dense, Seed: 1, Activity: activity}, 0.1, []string{"SA", "SB"}, []string{"A", "B", "C"})
		if err != nil {
			return nil, err
		}
		for _, phase := range []struct {
			steps  int
			fibres string
		}{{1, "SA>A SB>B"}, {9, "SA>A SB>B A>A B>B"}, {1, "SA>A A>A A>C"}, {9, "SA>A A>A A>C C>C"}, {1, "SB>B B>B B>C"}, {9, "SB>B B>B B>C C>C"}} {
			if _, err := project(b, phase.steps, phase.fibres); err != nil {
				return nil, err
			}
		}
		for joint := range 21 {
			o, err := common(b, s.k)
			if err != nil {
				return nil, err
			}
			c.X, c.Y = append(c.X, float64(joint)), append(c.Y, o)
			if _, err := project(b, 1, "SA>A SB>B A>A B>B A>C B>C C>C"); err != nil {
				return nil, err
			}
		}
		l.Curves = append(l.Curves, c)
		fmt.Fprintf(w, "  %-32s %.2f at first, %.2f after 10 joint steps, %.2f after 20\n", c.Name, c.Y[0], c.Y[10], c.Y[20])
	}
	return viz.Plots("Two assemblies fire together: p = 0.05, β = 0.1", l)
}

// common finds which neurons of C fire when each of two stimuli fires alone, and returns
// the overlap of the two sets. It uses a single copy of the brain for both stimuli: two
// copies of a lazy area could give the same numbers to different neurons.
func common(b *assembly.Brain, k int) (float64, error) {
	c := b.Clone()
	var answer [2][]int32
	for i, fibres := range [][2]string{{"SA>A", "A>C"}, {"SB>B", "B>C"}} {
		for _, f := range fibres {
			if _, err := project(c, 1, f); err != nil {
				return 0, err
			}
		}
		var err error
		if answer[i], err = c.Winners("C"); err != nil {
			return 0, err
		}
	}
	return assembly.Overlap(answer[0], answer[1], k), nil
}

// completion draws how an area completes an assembly when part of it fires. The less the
// assembly was trained, the larger the part needed.
func completion(w io.Writer, s size) (*viz.Figure, error) {
	b, err := s.brain(assembly.Settings{P: dense, Seed: 1}, 0.05, []string{"S"}, []string{"A"})
	if err != nil {
		return nil, err
	}
	l := viz.Lines{XLabel: "part of the assembly that fires", YLabel: "part that fires five steps later", Low: -0.03, High: 1.03}
	trained := 0
	for _, rounds := range []int{14, 17, 20, 25, 30} {
		if trained == 0 {
			_, err = b.Form("S", "A", rounds)
		} else {
			_, err = project(b, rounds-trained, "S>A A>A")
		}
		if err != nil {
			return nil, err
		}
		trained = rounds
		c := viz.Line{Name: fmt.Sprintf("%d training steps", rounds)}
		for _, part := range []float64{0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1} {
			o, err := b.Clone().Complete("A", part, 5, 1)
			if err != nil {
				return nil, err
			}
			c.X, c.Y = append(c.X, part), append(c.Y, o)
		}
		l.Curves = append(l.Curves, c)
		fmt.Fprintf(w, "  %d training steps: %.2f from 0.1 of it, %.2f from 0.4\n", rounds, c.Y[1], c.Y[4])
	}
	return viz.Plots("A part brings back the whole: p = 0.05, β = 0.05", l)
}

// merge draws how two assemblies form a third that projects back to both.
func merge(w io.Writer, s size) (*viz.Figure, error) {
	b, err := s.brain(assembly.Settings{P: s.p, Seed: 1}, 0.05, []string{"SA", "SB"}, []string{"A", "B", "C"})
	if err != nil {
		return nil, err
	}
	if _, err := project(b, 1, "SA>A SB>B"); err != nil {
		return nil, err
	}
	trace, err := b.Merge("SA", "A", "SB", "B", "C", s.steps/2)
	if err != nil {
		return nil, err
	}
	l := viz.Lines{XLabel: "step", YLabel: "neurons that ever fired / k", Curves: []viz.Line{{Name: "A"}, {Name: "B"}, {Name: "C, of both"}}}
	for t, rounds := range trace {
		for _, r := range rounds {
			c := &l.Curves[r.Area[0]-'A']
			c.X, c.Y = append(c.X, float64(t+2)), append(c.Y, float64(r.Support)/float64(s.k))
		}
	}
	for _, c := range l.Curves {
		fmt.Fprintf(w, "  %-10s %5.2f k after %d steps\n", c.Name, c.Y[len(c.Y)-1], s.steps/2+1)
	}
	was, err := b.Winners("B")
	if err != nil {
		return nil, err
	}
	b.Learn(false)
	if _, err := project(b, 1, "C>B"); err != nil {
		return nil, err
	}
	now, err := b.Winners("B")
	fmt.Fprintf(w, "  C alone fires %.2f of the assembly of B\n", assembly.Overlap(was, now, s.k))
	if err != nil {
		return nil, err
	}
	return viz.Plots(fmt.Sprintf("Two assemblies merge: n = %d, k = %d, p = %g", s.n, s.k, s.p), l)
}
