package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/sim/assembly/script"
	"github.com/euryale-dev/euryale/viz"
)

// assemblyPlot draws one kind of picture of a run of sim assembly, of all areas or
// measures, or of some.
type assemblyPlot struct {
	kind, short, about string
	draw               func(s *script.Script, r *script.Result, names []string) (*viz.Figure, error)
}

var assemblyPlots = []assemblyPlot{
	{"support", "Draw how many neurons of areas ever fired", `how many neurons of each area
ever fired, in units of k, over the steps.`, supportPlot},
	{"overlap", "Draw overlaps that a script measures", `the overlaps that the script
measures, a curve for each name, over the steps.`, overlapPlot},
	{"raster", "Draw which neurons fire in each step", `which neurons fire in each step,
coloured by whether they fired in the step before, earlier, or never. The
winners have to be in trace.csv: write "winners: true" in the script, or run it
with --winners.`, rasterPlot},
}

func (a *app) plotAssembly() (list []*cobra.Command) {
	for _, p := range assemblyPlots {
		var names []string
		c := &cobra.Command{
			Use:   p.kind + " RUN [OUT.svg|png|pdf]",
			Short: p.short,
			Long: fmt.Sprintf(`Draw, of a run folder of sim assembly, %s
The picture goes to the file named last, or to %s.svg.

  euryale plot %s run-project
  euryale plot %s run-project %s.png --var A
`, p.about, p.kind, p.kind, p.kind, p.kind),
			Args: cobra.RangeArgs(1, 2),
			RunE: func(_ *cobra.Command, args []string) error { return a.runPlotAssembly(p, args, names) },
		}
		c.Flags().StringSliceVar(&names, "var", nil, "areas or measures to draw (default all)")
		list = append(list, c)
	}
	return list
}

func (a *app) runPlotAssembly(p assemblyPlot, args, names []string) error {
	out, args, err := a.pictureFile(p.kind, args)
	if err != nil {
		return err
	}
	if len(args) != 1 {
		return usage("plot %s takes one run folder, and the name of a picture that ends in .svg, .png or .pdf", p.kind)
	}
	run, err := openAssembly(args[0])
	if err != nil {
		return err
	}
	r, err := readAssemblyResult(run.dir)
	if err != nil {
		return err
	}
	f, err := p.draw(run.script, r, names)
	if err != nil {
		return as(exitData, fmt.Errorf("%s: %w", args[0], err))
	}
	return a.savePicture(p.kind, out, f)
}

// assemblyAlbum draws what can be drawn of a run.
func (a *app) assemblyAlbum(s *script.Script, r *script.Result) *album {
	b := &album{a: a}
	for _, p := range assemblyPlots {
		if p.kind == "overlap" && !slices.ContainsFunc(r.Measures, isOverlap) || p.kind == "raster" && len(s.Winners) == 0 || len(r.Rounds) == 0 {
			continue
		}
		f, err := p.draw(s, r, nil)
		b.add(p.kind, f, err)
	}
	return b
}

func isOverlap(m script.Measure) bool { return m.Quantity == "overlap" }

// chosen returns names where they are known, or all.
func chosen(names, known []string) ([]string, error) {
	if len(known) == 0 {
		return nil, fmt.Errorf("the run has nothing of the kind to draw")
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, usage("--var %s: there is %s", n, strings.Join(known, ", "))
		}
	}
	if len(names) == 0 {
		return known, nil
	}
	return names, nil
}

func supportPlot(s *script.Script, r *script.Result, names []string) (*viz.Figure, error) {
	curves := map[string]*viz.Line{}
	k := map[string]float64{}
	var known []string
	for _, a := range s.Areas {
		k[a.Name] = float64(a.K)
	}
	for _, x := range r.Rounds {
		c := curves[x.Area]
		if c == nil {
			c = &viz.Line{Name: x.Area}
			curves[x.Area], known = c, append(known, x.Area)
		}
		c.X, c.Y = append(c.X, float64(x.Step)), append(c.Y, float64(x.Support)/k[x.Area])
	}
	return linesOf("Support", "support / k", names, known, curves, r.Mode)
}

func overlapPlot(_ *script.Script, r *script.Result, names []string) (*viz.Figure, error) {
	curves := map[string]*viz.Line{}
	var known []string
	for _, m := range r.Measures {
		if !isOverlap(m) {
			continue
		}
		c := curves[m.Name]
		if c == nil {
			c = &viz.Line{Name: m.Name}
			curves[m.Name], known = c, append(known, m.Name)
		}
		c.X, c.Y = append(c.X, float64(m.Step)), append(c.Y, m.Value)
	}
	return linesOf("Overlap", "overlap / k", names, known, curves, r.Mode)
}

func linesOf(title, label string, names, known []string, curves map[string]*viz.Line, mode string) (*viz.Figure, error) {
	names, err := chosen(names, known)
	if err != nil {
		return nil, err
	}
	l := viz.Lines{XLabel: "step", YLabel: label}
	for _, n := range names {
		l.Curves = append(l.Curves, *curves[n])
	}
	f, err := viz.Plots(title, l)
	if err == nil {
		f.Note = "Mode " + mode + "."
		if len(names) == 1 {
			f.Title += " of " + names[0]
		}
	}
	return f, err
}

func rasterPlot(_ *script.Script, r *script.Result, names []string) (*viz.Figure, error) {
	areas := map[string]*viz.Firing{}
	var known []string
	for _, x := range r.Rounds {
		if len(x.Winners) == 0 {
			continue
		}
		f := areas[x.Area]
		if f == nil {
			f = &viz.Firing{Area: x.Area}
			areas[x.Area], known = f, append(known, x.Area)
		}
		f.Steps, f.Winners = append(f.Steps, x.Step), append(f.Winners, x.Winners)
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("trace.csv has no winners: run the script with --winners")
	}
	names, err := chosen(names, known)
	if err != nil {
		return nil, err
	}
	var list []viz.Firing
	for _, n := range names {
		list = append(list, *areas[n])
	}
	f, err := viz.Raster("Winners", list...)
	if err == nil {
		f.Note += " Mode " + r.Mode + "."
	}
	return f, err
}
