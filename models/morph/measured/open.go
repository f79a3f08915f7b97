// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// Open reads the files of a problem and returns the fit that it describes. Relative paths start from a folder. A nuisance without a start
// has one from the data, and a weak prior. The summaries and notes of the files are in Task.Read.
func Open(p *morph.Problem, folder string) (*Task, error) {
	var sets []*scatter.Set
	for _, name := range p.Data {
		s, err := scatter.Open(below(folder, name), p.Settings(folder))
		if err != nil {
			return nil, fmt.Errorf("measured: %w", err)
		}
		sets = append(sets, s)
	}
	d, err := FromFiles(sets...)
	if err != nil {
		return nil, err
	}
	if err := d.resolved(p.Grid.Voxel); err != nil {
		return nil, err
	}
	t := &Task{Model: modelOf(p, d), Fixed: maps.Clone(p.Fixed)}
	for _, s := range sets {
		t.Read = append(t.Read, s.Summary())
		for _, n := range s.Notes {
			t.Read = append(t.Read, "  "+n)
		}
	}
	if err := t.constants(p, folder); err != nil {
		return nil, err
	}
	if err := t.parameters(p); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(t.Params, func(q Param) bool { return q.Name == "log_scale" }); i >= 0 && len(p.Parameters["log_scale"].Start) == 0 {
		return t, t.regress(i, 0)
	}
	return t, nil
}

// resolved returns an error if pixels that count are at q in the plane of the detector beyond what voxels of an edge in nm can describe.
func (d *Data) resolved(voxel float64) error {
	toPixels := d.Detector.Directions(d.pose())
	x, err := ad.Eval(toPixels.X, toPixels.Y)
	if err != nil {
		return err
	}
	most := 0.0
	alongY := x[1].Float64s()
	for i, u := range x[0].Float64s() {
		if v := alongY[i]; d.Keep == nil || d.Keep[i] {
			most = max(most, math.Abs(u), math.Abs(v))
		}
	}
	k := 0.0
	for _, f := range d.Frames {
		k = max(k, rsoxs.Wavenumber(f.Energy))
	}
	if limit := math.Pi / voxel; most*k > limit {
		return fmt.Errorf("measured: q reaches %.3g 1/nm along x or y, and the voxels of %g nm end at %.3g: make them smaller, or mask the pixels beyond", most*k, voxel, limit)
	}
	return nil
}

// pose returns where the detector stands, as numbers.
func (d *Data) pose() farfield.Pose {
	g := d.Geometry
	return farfield.Pose{Distance: ad.Scalar(g.Distance), PoniY: ad.Scalar(g.PoniY), PoniX: ad.Scalar(g.PoniX), Rot1: ad.Scalar(g.Rot1), Rot2: ad.Scalar(g.Rot2), Rot3: ad.Scalar(g.Rot3)}
}

// modelOf returns the model of a problem without its constants. What the morphology leaves is that of the surrounding material, and no
// material of its own.
func modelOf(p *morph.Problem, d *Data) *Model {
	bare := *p
	bare.Options.Matrix = false
	known := p.MorphologyNames()
	m := &Model{Data: d, Grid: morph.Grid{Shape: p.Grid.Shape, Voxel: p.Grid.Voxel}, Morphology: known, Width: cmp.Or(p.Options.Width, p.Grid.Voxel/2),
		SolidAngle: p.SolidAngle == nil || *p.SolidAngle}
	m.Scene = func(at morph.Values) morph.Scene {
		given := map[string]*ad.Node{}
		for _, name := range known {
			if n := at(name); n != nil {
				given[name] = n
			}
		}
		return bare.Morphology(bare.Values(given))
	}
	return m
}

// constants reads the optical constants, the matrix last.
func (t *Task) constants(p *morph.Problem, folder string) error {
	energies := t.Model.Data.energies()
	for i, raw := range p.Constants {
		table, name, err := openTable(raw, folder, energies)
		if err != nil {
			return fmt.Errorf("measured: constants of material %d: %w", i+1, err)
		}
		t.Model.Names = append(t.Model.Names, name)
		t.Model.Tables = append(t.Model.Tables, table)
	}
	if n := len(t.Model.Tables); p.Options.Matrix && n > 0 {
		t.Model.Matrix, t.Model.Tables = &t.Model.Tables[n-1], t.Model.Tables[:n-1]
	}
	return nil
}

// openTable reads a file of constants, "vacuum", or rows of numbers by energy.
func openTable(raw json.RawMessage, folder string, energies []float64) (Table, string, error) {
	var name string
	if json.Unmarshal(raw, &name) == nil && name != "vacuum" {
		c, err := scatter.Constants(below(folder, name))
		if err != nil {
			return Table{}, "", err
		}
		t := Table{Energies: c.Energies}
		for _, x := range c.Constants {
			t.Constants = append(t.Constants, rsoxs.Constants(x))
		}
		return t, filepath.Base(name), nil
	}
	rows := [][]float64{{0, 0, 0, 0}}
	if name == "" {
		if err := json.Unmarshal(raw, &rows); err != nil || len(rows) != len(energies) && len(rows) != 1 {
			return Table{}, "", fmt.Errorf(`%.60s does not give optical constants: want a file, "vacuum", or %d rows of 4 numbers, one for each of the energies %v eV`, raw, len(energies), energies)
		}
	}
	sorted := slices.Clone(energies)
	slices.Sort(sorted)
	t := Table{Energies: sorted}
	for _, e := range sorted {
		r := rows[min(slices.Index(energies, e), len(rows)-1)]
		if len(r) != 4 {
			return t, "", fmt.Errorf("a row has %d numbers: want DeltaPara, BetaPara, DeltaPerp, BetaPerp", len(r))
		}
		t.Constants = append(t.Constants, rsoxs.Constants{DeltaPara: r[0], BetaPara: r[1], DeltaPerp: r[2], BetaPerp: r[3]})
	}
	return t, cmp.Or(name, "constants"), nil
}

// parameters takes over the parameters of a problem: those of the morphology first, then the nuisances in the order of their list.
func (t *Task) parameters(p *morph.Problem) error {
	energies, materials := len(t.Model.Data.energies()), len(t.Model.Tables)
	if t.Model.Matrix != nil {
		materials++
	}
	g := &guess{Data: t.Model.Data, numbering: t.Model.energies()}
	names := slices.Sorted(maps.Keys(p.Parameters))
	rank := func(name string) int {
		if i := slices.Index(t.Model.Morphology, name); i >= 0 {
			return i
		}
		n, _, _ := nuisanceOf(name, energies, materials)
		return len(t.Model.Morphology) + slices.IndexFunc(nuisances, func(m Nuisance) bool { return m.Name == n.Name })
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	for _, name := range slices.Concat(names, slices.Sorted(maps.Keys(p.Fixed))) {
		_, _, ok := nuisanceOf(name, energies, materials)
		if !ok && !slices.Contains(t.Model.Morphology, name) {
			return t.unknown(name, energies, materials)
		}
	}
	for _, name := range names {
		q := Param{Bounds: p.Bounds(name)}
		if !slices.Contains(t.Model.Morphology, name) {
			n, energy, _ := nuisanceOf(name, energies, materials)
			q = n.usual(g, energy)
		}
		q.Name = name
		if err := q.take(p.Parameters[name], slices.Contains(t.Model.Morphology, name)); err != nil {
			return err
		}
		t.Params = append(t.Params, q)
	}
	return nil
}

// unknown is the error for a parameter that neither the model nor the measurement has.
func (t *Task) unknown(name string, energies, materials int) error {
	known := slices.Clone(t.Model.Morphology)
	for _, n := range nuisances {
		known = append(known, n.Name)
	}
	if m := spelling.Meant(name, known); m != "" && !strings.Contains(m, "_N") {
		return fmt.Errorf("measured: unknown parameter %q: did you mean %q?", name, m)
	}
	return fmt.Errorf("measured: unknown parameter %q: choose from %s, with N from 1 to %d for the energies and M from 1 to %d for the materials", name, strings.Join(known, ", "), energies, materials)
}

var normal = regexp.MustCompile(`^\s*normal\(\s*([^,\s]+)\s*,\s*([^,\s)]+)\s*\)\s*$`)

// take overrides start, bounds and prior by those of a problem. Bounds and priors that a problem does not give stay those of the data, but
// a start outside usual bounds lifts them.
func (q *Param) take(p morph.ProblemParam, needed bool) error {
	switch {
	case len(p.Start) > 1:
		return fmt.Errorf("measured: %s has %d starting values: measured patterns are fitted by parameters that are single numbers", q.Name, len(p.Start))
	case len(p.Start) == 1:
		q.Start = p.Start[0]
	case needed && p.Prior == "":
		return fmt.Errorf("measured: %s has no start, and only parameters of the measurement have one from the data: give one", q.Name)
	}
	if p.Prior != "" {
		m := normal.FindStringSubmatch(p.Prior)
		if m == nil {
			return fmt.Errorf("measured: the prior of %s is %s: measured patterns take normal(mean, sd) only; say other limits by bounds", q.Name, p.Prior)
		}
		var err1, err2 error
		q.Mean, err1 = strconv.ParseFloat(m[1], 64)
		q.SD, err2 = strconv.ParseFloat(m[2], 64)
		if err1 != nil || err2 != nil || !(q.SD > 0) || math.IsInf(q.SD, 0) {
			return fmt.Errorf("measured: the prior of %s is %s: want numbers, and a standard deviation above 0", q.Name, p.Prior)
		}
		if len(p.Start) == 0 {
			q.Start = q.Mean
		}
	}
	if p.Bounds != nil {
		q.Bounds = p.Bounds
	}
	if b := q.Bounds; b != nil && !(q.Start >= b[0] && q.Start <= b[1]) {
		if p.Bounds != nil && len(p.Start) == 0 { // a usual start, moved into the bounds
			q.Start = (b[0] + b[1]) / 2
			return nil
		}
		return fmt.Errorf("measured: %s starts at %g, outside its bounds %g to %g: change the start or the bounds", q.Name, q.Start, b[0], b[1])
	}
	return nil
}

func below(folder, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(folder, name)
}
