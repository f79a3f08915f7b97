// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"bytes"
	"context"
	"embed"

	"slices"

	"text/template"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/sim/assembly/script"
)

//go:embed experiments/*.yaml
var experimentScripts embed.FS

// experiment is the scripts of plot experiment with their numbers.
type experiment struct {
	N, K, Rounds  int
	P, Beta, Part float64
	Seed          uint64
	show          string
	script        bool
}

// experiments are the kinds of experiments, with the picture that shows each and what it is in words.
var experiments = []struct{ name, show, title string }{
	{"project", "raster", "Project: a stimulus forms an assembly"},
	{"associate", "overlap", "Associate: two assemblies come to share neurons"},
	{"merge", "raster", "Merge: two assemblies form a third one"},
	{"complete", "overlap", "Complete: an assembly comes back from a part"},
}

func experimentNames() (names []string) {
	for _, e := range experiments {
		names = append(names, e.name)
	}
	return names
}

func plotExperiment(a *frame.App) *cobra.Command {
	e := experiment{N: 2000, K: 40, Rounds: 25, P: 0.05, Beta: 0.1, Part: 0.4}
	shows := []string{}
	for _, p := range report.Assemblies() {
		shows = append(shows, p.Kind)
	}
	c := &cobra.Command{
		Use:   "experiment KIND [OUT.svg|png|pdf]",
		Short: "Draw a small experiment with assemblies, run on the spot",
		Long: `Run a small experiment of the assembly calculus and draw it. KIND is project,
associate, merge or complete. The picture is written to OUT if it is given, or
else to experiment.svg. --script prints the script of the experiment instead,
which sim assembly runs.

  euryale plot experiment project
  euryale plot experiment associate overlap.png --beta 0.2 --rounds 40
  euryale plot experiment merge --script > merge.yaml
`,
		Args:      cobra.RangeArgs(1, 2),
		ValidArgs: experimentNames(),
		RunE:      func(c *cobra.Command, args []string) error { return runExperiment(c.Context(), a, args, e) },
	}
	f := c.Flags()
	f.IntVar(&e.N, "n", e.N, "neurons of an area")
	f.IntVar(&e.K, "k", e.K, "neurons of an area that fire at a time")
	f.Float64Var(&e.P, "p", e.P, "probability of a synapse between two neurons")
	f.Float64Var(&e.Beta, "beta", e.Beta, "plasticity: share by which the weight of a synapse grows when both of its neurons fire")
	f.IntVar(&e.Rounds, "rounds", e.Rounds, "rounds of the experiment")
	f.Float64Var(&e.Part, "part", e.Part, "share of the assembly that is fired, for complete")
	f.StringVar(&e.show, "show", "", "picture: "+setting.Listed(shows)+" (default what shows the experiment best)")
	f.BoolVar(&e.script, "script", false, "print the script and draw nothing")
	frame.Slider(c, "n", 100, 10_000)
	frame.Slider(c, "k", 5, 200)
	frame.Slider(c, "p", 0.005, 0.5)
	frame.Slider(c, "beta", 0, 0.5)
	frame.Slider(c, "rounds", 1, 100)
	frame.Slider(c, "part", 0.05, 1)
	frame.CompleteFlag(c, "show", shows)
	return c
}

// Bounds of experiments, which take a second at most.
const (
	mostNeurons = 200_000
	mostRounds  = 1000
)

func runExperiment(ctx context.Context, a *frame.App, args []string, e experiment) error {
	out := ""
	if !e.script {
		var err error
		if out, _, err = a.PictureFile("experiment", args); err != nil {
			return err
		}
	}
	at := slices.IndexFunc(experiments, func(x struct{ name, show, title string }) bool { return x.name == args[0] })
	if at < 0 {
		return exit.Usage("plot experiment %s: want %s", args[0], setting.Listed(experimentNames()))
	}
	if e.N > mostNeurons || e.Rounds > mostRounds {
		return exit.Usage("--n %d, --rounds %d: want at most %d neurons and %d rounds; sim assembly runs scripts of any size", e.N, e.Rounds, mostNeurons, mostRounds)
	}
	if e.Rounds < 1 {
		return exit.Usage("--rounds %d: want at least 1", e.Rounds)
	}
	e.Seed = a.Seed
	text, err := e.text(args[0])
	if err != nil {
		return err
	}
	if e.script {
		_, err := a.Stdout.Write(text)
		return exit.With(exit.CannotWrite, err)
	}
	s, err := script.Parse(args[0]+".yaml", text)
	if err != nil {
		return exit.Usage("these numbers make no experiment: %w; --script prints the script that this is about", err)
	}
	r, err := s.Run(ctx, script.Settings{})
	if err != nil {
		return exit.With(exit.Data, err)
	}
	show := e.show
	if show == "" {
		show = experiments[at].show
	}
	for _, p := range report.Assemblies() {
		if p.Kind == show {
			f, err := p.Draw(s, r, report.Choice{})
			if err != nil {
				return exit.With(exit.Data, err)
			}
			return a.SavePicture("experiment", out, f)
		}
	}
	return exit.Usage("--show %s: there is no such picture of assemblies", show)
}

// text returns the script of an experiment.
func (e experiment) text(name string) ([]byte, error) {
	t, err := template.ParseFS(experimentScripts, "experiments/"+name+".yaml")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, e)
	return b.Bytes(), err
}

// explore lets people try experiments in the page of view.
func explore() *frame.Look {
	l := &frame.Look{Kind: "Experiments", Title: "Assemblies of neurons"}
	for _, x := range experiments {
		l.Pictures = append(l.Pictures, frame.Sight{Title: x.title, Args: []string{"plot", "experiment", x.name}})
	}
	return l
}
