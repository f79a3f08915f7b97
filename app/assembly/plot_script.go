// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/sim/assembly/script"
)

// scriptFlags are the flags of plot script: how a script is changed, and what of it is drawn.
type scriptFlags struct {
	N, K, P, Beta float64 // factors of the script's numbers
	show          string
	script        bool
}

func plotScript(a *frame.App) *cobra.Command {
	f := scriptFlags{N: 1, K: 1, P: 1, Beta: 1}
	shows := []string{}
	for _, p := range report.Assemblies() {
		shows = append(shows, p.Kind)
	}
	c := &cobra.Command{
		Use:   "script SCRIPT.yaml [OUT.svg|png|pdf]",
		Short: "Draw what a script of assemblies does, run on the spot",
		Long: `Run a small script of sim assembly and draw its result, with the numbers of all
areas and fibres multiplied by factors. Nothing is written but the picture: OUT
if it is given, or else script.svg. --script prints the changed script instead,
which sim assembly runs. Scripts of up to 200000 neurons and 1000 steps are run;
sim assembly runs those of any size.

  euryale plot script project.yaml
  euryale plot script project.yaml overlap.png --beta-times 2 --show overlap
  euryale plot script project.yaml --n-times 10 --script > large.yaml
`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			return runPlotScript(c.Context(), a, args, f, c.Flags().Changed("seed"))
		},
	}
	s := c.Flags()
	for _, x := range []struct {
		name, about string
		to          *float64
		high        float64
	}{{"n-times", "factor of the numbers of neurons of areas", &f.N, 5}, {"k-times", "factor of the numbers of neurons that fire at a time", &f.K, 5},
		{"p-times", "factor of the probabilities of a synapse", &f.P, 5}, {"beta-times", "factor of the plasticities", &f.Beta, 5}} {
		s.Float64Var(x.to, x.name, 1, x.about)
		frame.Slider(c, x.name, 0.1, x.high)
	}
	s.StringVar(&f.show, "show", shows[0], "picture: "+setting.Listed(shows))
	s.BoolVar(&f.script, "script", false, "print the changed script and draw nothing")
	frame.CompleteFlag(c, "show", shows)
	return c
}

func runPlotScript(ctx context.Context, a *frame.App, args []string, f scriptFlags, seeded bool) error {
	out, names := "", args
	if !f.script {
		var err error
		if out, names, err = a.PictureFile("script", args); err != nil {
			return err
		}
	}
	if len(names) != 1 {
		return exit.Usage("plot script takes one script, and the name of a picture that ends in .svg, .png or .pdf")
	}
	at := slices.IndexFunc(report.Assemblies(), func(p report.AssemblyPicture) bool { return p.Kind == f.show })
	if at < 0 {
		return exit.Usage("--show %s: there is no such picture of assemblies", f.show)
	}
	text, err := foreign.ReadFile(names[0], ".yaml", ".yml", ".json")
	if err != nil {
		return exit.Input(err)
	}
	s, err := script.Parse(names[0], text)
	if err != nil {
		return exit.With(exit.Config, err)
	}
	if changed, err := f.change(text); err != nil {
		return exit.With(exit.Config, fmt.Errorf("%s: %w", names[0], err))
	} else if changed != nil {
		text = changed
		if s, err = script.Parse(names[0], text); err != nil {
			return exit.Usage("these factors make no script: %w; --script prints the script that this is about", err)
		}
	}
	if f.script {
		_, err := a.Stdout.Write(text)
		return exit.With(exit.CannotWrite, err)
	}
	if tooLarge(s) {
		return exit.Usage("%s has %d neurons and %d steps: want at most %d and %d; sim assembly runs scripts of any size, and plot %s draws its run", names[0], neurons(s), s.Rounds, mostNeurons, mostRounds, f.show)
	}
	if seeded {
		s.Settings.Seed = a.Seed
	}
	for _, x := range s.Areas {
		s.Winners[x.Name] = true
	}
	r, err := s.Run(ctx, script.Settings{})
	if err != nil {
		return exit.With(exit.Data, err)
	}
	fig, err := report.Assemblies()[at].Draw(s, r, report.Choice{})
	if err != nil {
		return exit.InFile(names[0], err)
	}
	fig.Title = filepath.Base(names[0]) + ": " + fig.Title
	return a.SavePicture("script", out, fig)
}

// tooLarge reports whether a script takes too long to be run on the spot.
func tooLarge(s *script.Script) bool { return neurons(s) > mostNeurons || s.Rounds > mostRounds }

// neurons is the number of neurons of all areas.
func neurons(s *script.Script) (n int) {
	for _, x := range s.Areas {
		n += x.N
	}
	return n
}

// usualBeta is the plasticity of areas whose script does not say one.
const usualBeta = 0.05

// change multiplies the numbers of a script, or returns nil if all factors are 1.
func (f *scriptFlags) change(text []byte) ([]byte, error) {
	factors := map[string]float64{"n": f.N, "k": f.K, "p": f.P, "beta": f.Beta}
	same := true
	for name, v := range factors {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, exit.Usage("--%s-times %g: want a number above 0", name, v)
		}
		same = same && v == 1
	}
	if same {
		return nil, nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	top := doc.Content[0]
	if entry(top, "beta") == nil {
		top.Content = append(top.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "beta"}, &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatFloat(usualBeta, 'g', -1, 64)})
	}
	lists := []*yaml.Node{top}
	for _, part := range []string{"areas", "fibres", "fibers"} {
		if list := entry(top, part); list != nil {
			for i := 1; i < len(list.Content); i += 2 {
				lists = append(lists, list.Content[i])
			}
		}
	}
	for _, n := range lists {
		if err := multiply(n, factors); err != nil {
			return nil, err
		}
	}
	return yaml.Marshal(&doc)
}

// entry is the value of a key of a mapping, nil if there is none.
func entry(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// multiply multiplies the numbers of some keys of a mapping: whole ones to whole ones, and probabilities to 1 at most.
func multiply(n *yaml.Node, factors map[string]float64) error {
	for key, by := range factors {
		v := entry(n, key)
		if v == nil {
			continue
		}
		var x float64
		if err := v.Decode(&x); err != nil {
			return fmt.Errorf("line %d: %s is no number that can be multiplied: %w", v.Line, key, err)
		}
		v.Tag, v.Style = "", 0
		switch x *= by; key {
		case "n", "k":
			v.Value = strconv.FormatFloat(max(1, math.Round(x)), 'f', 0, 64)
		case "p":
			v.Value = strconv.FormatFloat(min(x, 1), 'g', 8, 64)
		default:
			v.Value = strconv.FormatFloat(x, 'g', 8, 64)
		}
	}
	return nil
}
