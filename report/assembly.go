// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/sim/assembly/script"
	"github.com/euryale-dev/euryale/viz"
)

// ErrNoWinners says that a run did not record which neurons fired.
var ErrNoWinners = errors.New("the run did not record which neurons fired: record the winners in the script")

// UnknownError says that a run has no area or measure with a given name.
type UnknownError struct {
	Name  string
	Known []string
}

// Error lists the names that exist.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no %s: choose one of %s", e.Name, strings.Join(e.Known, ", "))
}

// Assembly draws all figures available for the run of a script.
func Assembly(s *script.Script, r *script.Result, set Settings) *Album {
	b := &Album{Note: set.Note, DPI: set.DPI}
	if len(r.Rounds) == 0 {
		return b
	}
	f, err := Support(s, r, nil)
	b.Add("support", f, err)
	if slices.ContainsFunc(r.Measures, isOverlap) {
		f, err = Overlaps(r, nil)
		b.Add("overlap", f, err)
	}
	if len(s.Winners) > 0 {
		f, err = Raster(r, nil)
		b.Add("raster", f, err)
	}
	return b
}

func isOverlap(m script.Measure) bool { return m.Quantity == "overlap" }

// chosen returns the names after checking that they are known, or all known names if
// there are none.
func chosen(names, known []string) ([]string, error) {
	if len(known) == 0 {
		return nil, fmt.Errorf("the run recorded nothing that this figure shows: record it in the script")
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, &UnknownError{Name: n, Known: known}
		}
	}
	if len(names) == 0 {
		return known, nil
	}
	return names, nil
}

func init() {
	pictures.assemblies = append(pictures.assemblies,
		AssemblyPicture{Picture{Kind: "support", Short: "Draw how many neurons of each area have fired so far", Long: "how many neurons of each\narea have fired so far, divided by k, against the step."},
			func(s *script.Script, r *script.Result, c Choice) (*viz.Figure, error) { return Support(s, r, c.Names) }},
		AssemblyPicture{Picture{Kind: "overlap", Short: "Draw the overlaps that a script measures", Long: "the overlaps that the\nscript measures, one curve per name, against the step."},
			func(s *script.Script, r *script.Result, c Choice) (*viz.Figure, error) { return Overlaps(r, c.Names) }},
		AssemblyPicture{Picture{Kind: "raster", Short: "Draw which neurons fire in each step",
			Long: "which neurons fire in each\nstep, coloured by whether they last fired in the step before, earlier, or never.\nThe winners must be in trace.csv: put \"winners: true\" in the script, or run it\nwith --winners."},
			func(s *script.Script, r *script.Result, c Choice) (*viz.Figure, error) { return Raster(r, c.Names) }})
}

// Support draws the number of neurons in each area that ever fired, in units of k,
// against the step. Without names it draws all areas.
func Support(s *script.Script, r *script.Result, names []string) (*viz.Figure, error) {
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

// Overlaps draws the overlaps that a script measures against the step. Without names it
// draws all measures.
func Overlaps(r *script.Result, names []string) (*viz.Figure, error) {
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

// Raster draws which neurons fire in each step. Without names it draws all areas whose
// winners were recorded.
func Raster(r *script.Result, names []string) (*viz.Figure, error) {
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
		return nil, ErrNoWinners
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
