// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// Draws is the input of the posterior plots.
type Draws struct {
	Names     []string          // names of the quantities
	Units     map[string]string // units by name; may be nil
	X         [][][]float64     // draws by [name][chain][draw]
	Diverging [][]bool          // flag of each draw that is true if it diverged, by [chain][draw]; nil if unknown
	Energy    [][]float64       // energy of each draw, by [chain][draw]; nil if unknown

	highlighted [][]bool // mark of draws that Highlight chose, by [chain][draw]; nil for none
	ranges      string   // the ranges that chose them, in words
}

// FromFit returns the draws of a fit. Set Units for labels with units.
func FromFit(f *infer.Fit) Draws {
	d := Draws{Names: slices.Clone(f.Names()), Energy: f.Stat("energy"), Diverging: make([][]bool, f.Chains())}
	for i := range d.Names {
		d.X = append(d.X, f.Column(i))
	}
	for c := range d.Diverging {
		for _, s := range f.Stats(c) {
			d.Diverging[c] = append(d.Diverging[c], s.Diverging)
		}
	}
	return d
}

// quantity is a name with its draws in the forms that plots need.
type quantity struct {
	name, label string
	raw         [][]float64 // draws as given, by chain
	x           [][]float64 // finite draws by chain
	all         []float64   // finite draws of all chains
	*orders
}

// orders holds the finite draws of a quantity in ascending order, each computed when a plot first
// asks for it.
type orders struct {
	whole  diag.Ascending
	chains []diag.Ascending
	held   *diag.Interval
}

// ascending returns the finite draws of all chains in ascending order.
func (q quantity) ascending() diag.Ascending {
	if q.whole == nil {
		q.whole = diag.Ascend(q.all)
	}
	return q.whole
}

// chain returns the finite draws of one chain in ascending order.
func (q quantity) chain(c int) diag.Ascending {
	if q.chains[c] == nil {
		q.chains[c] = diag.Ascend(q.x[c])
	}
	return q.chains[c]
}

// outer returns the interval of highest density that holds outerProb of the draws.
func (q quantity) outer() diag.Interval {
	if q.held == nil {
		i := q.ascending().HDI(outerProb)
		q.held = &i
	}
	return *q.held
}

// selection holds the quantities of a plot, and remarks for its note.
type selection struct {
	q       []quantity
	remarks []string
}

// elements replaces the name of an array, such as theta, by those of its elements, such as
// theta[0].
func (d Draws) elements(names []string) (all []string) {
	for _, name := range names {
		n := len(all)
		if !slices.Contains(d.Names, name) {
			for _, e := range d.Names {
				if strings.HasPrefix(e, name+"[") {
					all = append(all, e)
				}
			}
		}
		if len(all) == n {
			all = append(all, name)
		}
	}
	return all
}

// pick returns the named quantities, all elements of named arrays, or, without names, the first most.
func (d Draws) pick(plot string, most int, names []string) (s selection, err error) {
	if err := d.check(plot); err != nil {
		return s, err
	}
	if len(names) == 0 {
		names = d.Names
		if len(names) > most {
			s.remark("These are the first %d of %d quantities; name others to see them.", most, len(names))
			names = names[:most]
		}
	}
	left, empty := 0, []string{}
	for _, name := range d.elements(names) {
		if err := d.known(name); err != nil {
			return s, fmt.Errorf("viz: %s: %w", plot, err)
		}
		q, dropped := d.quantity(slices.Index(d.Names, name))
		left += dropped
		if len(q.all) == 0 {
			empty = append(empty, name)
			continue
		}
		s.q = append(s.q, q)
	}
	if len(s.q) == 0 {
		return s, fmt.Errorf("viz: %s: there are no finite draws of %s: choose other quantities", plot, strings.Join(names, ", "))
	}
	if len(empty) > 0 {
		s.remark("There are no finite draws of %s.", strings.Join(empty, ", "))
	}
	if left > 0 {
		s.remark("%s", leftOut(left, "draw", "draws", "not finite"))
	}
	return s, nil
}

// known returns an error for a name that is none of the quantities.
func (d Draws) known(name string) error {
	if slices.Contains(d.Names, name) {
		return nil
	}
	return fmt.Errorf("there is no quantity %q: choose from %s", name, nearest(name, d.Names))
}

func (d Draws) check(plot string) error {
	switch {
	case len(d.Names) == 0:
		return fmt.Errorf("viz: %s: Draws has no Names: name the quantities", plot)
	case len(d.X) != len(d.Names):
		return fmt.Errorf("viz: %s: Draws has %d Names, but X of %d quantities: give equal numbers", plot, len(d.Names), len(d.X))
	}
	return nil
}

func (d Draws) quantity(i int) (q quantity, dropped int) {
	q = quantity{name: d.Names[i], label: label(d.Names[i], d.Units[d.Names[i]]), raw: d.X[i], orders: &orders{chains: make([]diag.Ascending, len(d.X[i]))}}
	for _, chain := range q.raw {
		good := finites(chain)
		dropped += len(chain) - len(good)
		q.x = append(q.x, good)
		q.all = append(q.all, good...)
	}
	return q, dropped
}

func (s *selection) remark(format string, args ...any) {
	s.remarks = append(s.remarks, fmt.Sprintf(format, args...))
}

// note joins a first sentence and the remarks.
func (s *selection) note(first string) string {
	return strings.TrimSpace(first + " " + strings.Join(s.remarks, " "))
}

// chains returns the largest number of chains of the selection.
func (s *selection) chains() (n int) {
	for _, q := range s.q {
		n = max(n, len(q.x))
	}
	return n
}

// chainKeys is the legend of the chains, if there are several and not too many.
func (s *selection) chainKeys() (keys []key) {
	n := s.chains()
	if n < 2 || n > len(okabeIto) {
		return nil
	}
	for c := range n {
		keys = append(keys, key{fmt.Sprint("chain ", c+1), chainColor(c), stroke})
	}
	return keys
}

// diverging reports whether a draw diverged.
func (d Draws) diverging(chain, draw int) bool {
	return chain < len(d.Diverging) && draw < len(d.Diverging[chain]) && d.Diverging[chain][draw]
}

// divergences counts the draws that diverged.
func (d Draws) divergences() (n int) {
	for _, c := range d.Diverging {
		for _, is := range c {
			if is {
				n++
			}
		}
	}
	return n
}

func finites(v []float64) []float64 {
	out := make([]float64, 0, len(v))
	for _, x := range v {
		if linalg.Finite(x) {
			out = append(out, x)
		}
	}
	return out
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// leftOut says how many things are not drawn, and why.
func leftOut(n int, one, many, why string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s is left out because it is %s.", one, why)
	}
	return fmt.Sprintf("%d %s are left out because they are %s.", n, many, why)
}

// grey says how many pixels have no colour, and why.
func grey(n int, why string) string {
	if n == 1 {
		return "1 pixel is grey because it is " + why + "."
	}
	return fmt.Sprintf("%d pixels are grey because they are %s.", n, why)
}

// nearest lists the names that exist, the most similar one first.
func nearest(name string, names []string) string {
	sorted := spelling.Sorted(name, names)
	if len(sorted) > 8 {
		return strings.Join(sorted[:8], ", ") + fmt.Sprintf(" and %d more", len(sorted)-8)
	}
	return strings.Join(sorted, ", ")
}

// tiles arranges panels in rows.
func tiles(title string, s selection, note string, panels []*panel, cols int) *Figure {
	f := &Figure{Title: title, Note: s.note(note), Width: pageWidth, keys: s.chainKeys()}
	f.grid = &grid{rows: inRows(panels, min(cols, len(panels))), gapX: gutter, gapY: gutter, flows: true}
	f.Height = float64(len(f.grid.rows))*(rowHeight+0.45) + 0.75
	return f
}

// columns returns the number of panels in a row.
func columns(n int) int {
	switch {
	case n == 1:
		return 1
	case n <= 4:
		return 2
	}
	return 3
}
