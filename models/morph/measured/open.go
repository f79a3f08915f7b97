// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
	"github.com/euryale-dev/euryale/sim/rsoxs/particle"
)

// Open reads the files of a problem and returns the fit that it describes. Relative paths start from a folder. A nuisance without a start
// has one from the data, and a weak prior. The summaries and notes of the files are in Task.Read.
func Open(p *morph.Problem, folder string) (*Task, error) {
	t, err := open(p, folder)
	if err != nil {
		return nil, plain(err)
	}
	return t, nil
}

func open(p *morph.Problem, folder string) (*Task, error) {
	t := &Task{Fixed: maps.Clone(p.Fixed), bin: p.Bin}
	groups, err := t.read(p, folder)
	if err != nil {
		return nil, err
	}
	var all []*Data
	for _, g := range groups {
		if err := g.data.resolved(p.Grid.Voxel); !p.IsClosed() && err != nil {
			return nil, err
		}
		all = append(all, g.data)
	}
	for _, g := range groups {
		m := modelOf(p, g.data)
		m.Suffix, m.Numbering, m.SolidAngle = g.suffix, united(all), g.reading.SolidAngle
		if t.Model == nil {
			t.Model = m
		} else {
			t.More = append(t.More, m)
		}
	}
	if err := t.constants(p, folder); err != nil {
		return nil, err
	}
	if p.Loss == "" {
		t.scatterOfBoxes(p)
	}
	if err := t.parameters(p, groups); err != nil {
		return nil, err
	}
	doubts, err := t.doubts()
	if err != nil {
		return nil, err
	}
	t.Read = append(t.Read, doubts...)
	if p.AllNuisances {
		if err := t.freeAll(p, groups[0].data); err != nil {
			return nil, err
		}
	}
	if len(p.Data) == 0 {
		return t, nil
	}
	if err := t.lighten(); err != nil { // what the files and the problem have wrong is told before anything is made
		return nil, err
	}
	if err := t.Model.contrast(); err != nil {
		return nil, err
	}
	return t, nil
}

// scatterOfBoxes compares counts of pixels as those of speckle where the model is a mean over simulated boxes: it scatters itself about the
// mean of all boxes, as speckle of as many modes does.
func (t *Task) scatterOfBoxes(p *morph.Problem) {
	if p.Boxes() == 0 {
		return
	}
	for _, m := range t.models() {
		name := "modes" + m.Suffix
		_, held := t.Fixed[name]
		_, searched := p.Parameters[name]
		for i := range m.Data.Frames {
			f := &m.Data.Frames[i]
			if f.Bins != nil || f.Noise != "" && f.Noise != "poisson" {
				continue
			}
			if f.Noise = "negative_binomial"; !held && !searched {
				if t.Fixed == nil {
					t.Fixed = map[string]float64{}
				}
				t.Fixed[name] = float64(p.Boxes())
			}
		}
	}
	if n := t.Model.pixelsOfSpeckle(); n > 2 {
		t.Read = append(t.Read, fmt.Sprintf("  about %.0f pixels share a speckle of the boxes, so that errors are up to %.2g times too small: make the grid larger, or the pixels (\"bin\")", n, math.Sqrt(n)))
	}
	t.Read = append(t.Read, fmt.Sprintf("patterns are means over %d simulated boxes, which scatter about the mean of all: counts of pixels are compared as those of speckle of %d modes; more boxes (options.boxes) tell more, and take as much longer", p.Boxes(), p.Boxes()))
}

// pixelsOfSpeckle is about how many pixels lie within a speckle of the boxes, 2 pi over their edges wide.
func (m *Model) pixelsOfSpeckle() float64 {
	d, n := m.Data, m.Grid.Shape
	if d.Fan != nil || d.Frames[0].Bins != nil {
		return 1
	}
	of := func(voxels int, pixel float64) float64 {
		return max(1, 2*math.Pi/(float64(voxels)*m.Grid.Voxel)/(rsoxs.Wavenumber(d.Frames[0].Energy)*pixel/d.Geometry.Distance))
	}
	return of(n[1], d.Detector.PixelY) * of(n[2], d.Detector.PixelX)
}

// plain returns an error about sizes and reach without the place in the code that met it.
func plain(err error) error {
	if size := (*particle.SizeError)(nil); errors.As(err, &size) {
		return size
	}
	if reach := (*particle.ReachError)(nil); errors.As(err, &reach) {
		return reach
	}
	return err
}

// group is a measurement: files of one detector that have the same nuisances.
type group struct {
	suffix    string
	sets      []*scatter.Set
	nuisances map[string]morph.ProblemParam
	reading   Reading
	data      *Data
}

// read reads the files: those without nuisances of their own are one measurement.
func (t *Task) read(p *morph.Problem, folder string) (groups []group, err error) {
	for i, f := range p.Data {
		s, err := scatter.Open(below(folder, f.File), p.Settings(folder, i))
		if err != nil {
			return nil, fmt.Errorf("measured: %w", err)
		}
		t.Read = append(t.Read, s.Summary())
		for _, n := range s.Notes {
			t.Read = append(t.Read, "  "+n)
		}
		of := p.Of(i)
		r := Reading{Loss: p.Loss, SolidAngle: of.SolidAngle == nil || *of.SolidAngle, Wedges: of.Anisotropy, Transmission: of.Transmission, Round: p.IsRound(), Bin: of.Bin}
		if f.Nuisances != nil {
			groups = append(groups, group{suffix: fmt.Sprintf("@%d", i+1), sets: []*scatter.Set{s}, nuisances: f.Nuisances, reading: r})
			continue
		}
		k := slices.IndexFunc(groups, func(g group) bool { return g.suffix == "" })
		if k < 0 {
			k = len(groups)
			groups = append(groups, group{reading: r})
		}
		groups[k].sets = append(groups[k].sets, s)
	}
	if len(groups) == 0 {
		return t.planned(p, folder)
	}
	for i := range groups {
		g := &groups[i]
		notes := []string(nil)
		if g.data, notes, err = FromFiles(g.reading, g.sets...); err != nil {
			return nil, err
		}
		for _, n := range notes {
			t.Read = append(t.Read, "  "+n)
		}
	}
	return groups, nil
}

// planned returns a measurement that has not been made, on the detector of a problem, with one empty frame.
func (t *Task) planned(p *morph.Problem, folder string) ([]group, error) {
	s := scatter.Settings{Geometry: p.Geometry}
	for _, m := range p.Masks {
		m.File = below(folder, m.File)
		s.Masks = append(s.Masks, m)
	}
	set, err := scatter.Planned(s)
	if err != nil {
		return nil, fmt.Errorf("measured: %w", err)
	}
	d := &Data{Keep: set.Keep}
	d.Detector, d.Geometry = detectorOf(set)
	if len(p.Energies) == 0 {
		return nil, errors.New(`measured: a measurement that has not been made needs "energies", one in eV that all tables of constants have`)
	}
	for _, e := range p.Energies {
		f := Frame{Energy: e, Exposure: 1, Counts: make([]float64, d.pixels())}
		if p.Exposure != nil {
			f.Exposure = *p.Exposure
		}
		if p.Polarization != nil {
			f.Angle = *p.Polarization
		}
		d.Frames = append(d.Frames, f)
	}
	if err := d.transmit("the problem", p.Transmission); err != nil {
		return nil, err
	}
	t.Read = append(t.Read, fmt.Sprintf("no data: a detector of %d x %d pixels", set.Rows, set.Columns))
	return []group{{data: d, reading: Reading{SolidAngle: p.SolidAngle == nil || *p.SolidAngle}}}, d.check()
}

// resolved returns an error if pixels that count are at q in the plane of the detector beyond what voxels of an edge in nm can describe.
func (d *Data) resolved(voxel float64) error {
	if d.Fan != nil {
		return nil // a fan has no pixels that could be masked; the volume says what it cannot do
	}
	toPixels := d.Detector.Directions(d.pose())
	x, err := ad.Numbers(toPixels.X, toPixels.Y)
	if err != nil {
		return err
	}
	most := 0.0
	alongY := x[1]
	for i, u := range x[0] {
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
	m := &Model{Data: d, Grid: morph.Grid{Shape: p.Grid.Shape, Voxel: p.Grid.Voxel}, Morphology: known, Lengths: p.Lengths(), Width: cmp.Or(p.Options.Width, p.Grid.Voxel/2),
		SolidAngle: p.SolidAngle == nil || *p.SolidAngle}
	given := func(at morph.Values, names ...string) map[string]*ad.Node {
		list := map[string]*ad.Node{}
		for _, name := range names {
			if n := at(name); n != nil {
				list[name] = n
			}
		}
		return list
	}
	values := func(at morph.Values) morph.Values { return bare.Values(given(at, known...)) }
	m.Scene = func(at morph.Values) morph.Scene { return bare.Morphology(values(at)) }
	if p.Boxes() > 0 {
		m.Boxes = func(at morph.Values) []morph.Scene { return bare.Members(values(at)) }
	}
	if p.IsClosed() {
		m.Closed = func(at morph.Values, q float64) morph.ClosedForm { return bare.Closed(values(at), q) }
	}
	if whole := bare.Whole(); whole != nil {
		m.Whole = func(at morph.Values, q float64) morph.ClosedForm {
			return whole.Closed(whole.Values(given(at, known...)), q)
		}
	}
	if name, wider := bare.Spread(); name != "" {
		m.Spread, m.Ensemble = name, wider.Model
		m.Wider = func(at morph.Values, q float64) morph.ClosedForm {
			return wider.Closed(wider.Values(given(at, append(slices.Clone(known), name)...)), q)
		}
	}
	return m
}

// constants reads the optical constants, the matrix last, for the models of all measurements.
func (t *Task) constants(p *morph.Problem, folder string) error {
	first := t.Model
	energies := first.energies()
	if rises := slices.IsSorted(energies); !rises && slices.ContainsFunc(p.Constants, func(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) }) {
		t.Read = append(t.Read, fmt.Sprintf("rows of constants are taken in the order of the energies in the data, %v eV, which do not rise", energies))
	}
	for i, raw := range p.Constants {
		table, name, err := openTable(raw, folder, energies)
		if err != nil {
			return fmt.Errorf("measured: constants of material %d: %w", i+1, err)
		}
		name = cmp.Or(name, p.PartName(i), fmt.Sprintf("material %d", i+1))
		first.Names, first.Tables = append(first.Names, name), append(first.Tables, table)
		t.Read = append(t.Read, table.amplifies(name)...)
	}
	for i, table := range first.Tables {
		switch {
		case table.Second == nil:
		case p.IsClosed():
			return fmt.Errorf("measured: %s has constants along three axes, and closed forms know two: leave options.closed out, which computes with voxels, or take a model of voxels", first.Names[i])
		case p.Options.Matrix && i == len(first.Tables)-1:
			return fmt.Errorf("measured: the matrix, material %d, has constants along three axes, and a matrix is isotropic: give DeltaPara, BetaPara, DeltaPerp, BetaPerp", i+1)
		}
	}
	if n := len(first.Tables); p.Options.Matrix && n > 0 {
		first.Matrix, first.Tables = &first.Tables[n-1], first.Tables[:n-1]
	}
	for _, m := range t.More {
		m.Names, m.Tables, m.Matrix = first.Names, first.Tables, first.Matrix
	}
	return nil
}

// amplifies says where the beta of a table is negative.
func (t Table) amplifies(name string) []string {
	rows := make([][]cyrsoxs.Constants, len(t.Constants))
	for i, c := range t.Constants {
		rows[i] = []cyrsoxs.Constants{cyrsoxs.Constants(c)}
	}
	return cyrsoxs.Amplifiers([]*cyrsoxs.Material{{Name: name}}, rows, t.Energies)
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
		t.Second = c.Second
		return t, filepath.Base(name), nil
	}
	rows := [][]float64{{0, 0, 0, 0}}
	if name == "" {
		if err := json.Unmarshal(raw, &rows); err == nil && len(rows) != len(energies) && len(rows) != 1 {
			return Table{}, "", fmt.Errorf("%d rows are given for %s, %v eV: give a row for each of them in this order, one row for all, or a table by energy in a file",
				len(rows), fmt.Sprint(len(energies), errtext.Agree(len(energies), " energy", " energies")), energies)
		} else if err != nil {
			return Table{}, "", fmt.Errorf(`%.60s does not give optical constants: want a file, "vacuum", or %d rows of 4 numbers (6 for molecules with three optical axes), one for each of the energies %v eV`, raw, len(energies), energies)
		}
	}
	sorted := slices.Clone(energies)
	slices.Sort(sorted)
	t := Table{Energies: sorted}
	for _, e := range sorted {
		r := rows[min(slices.Index(energies, e), len(rows)-1)]
		if len(r) != len(rows[0]) || len(r) != 4 && len(r) != 6 {
			return t, "", fmt.Errorf("a row has %d numbers: want DeltaPara, BetaPara, DeltaPerp, BetaPerp in all rows, or in all DeltaPerp2, BetaPerp2 after these", len(r))
		}
		if len(r) == 6 {
			t.Second = append(t.Second, [2]float64{r[4], r[5]})
		}
		t.Constants = append(t.Constants, rsoxs.Constants{DeltaPara: r[0], BetaPara: r[1], DeltaPerp: r[2], BetaPerp: r[3]})
	}
	return t, name, nil
}

// parameters takes over the parameters of a problem: those of the morphology first, then the nuisances in the order of their list, those of
// single measurements last. The scale of noise that needs one is always a parameter, unless it is held.
func (t *Task) parameters(p *morph.Problem, groups []group) error {
	if err := t.parametersOf(p, p.Parameters, "", groups[0].data, true); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(p.Fixed)) {
		if slices.Contains(t.Model.Morphology, t.bare(name)) {
			continue
		}
		n, energy, err := t.nuisance(t.bare(name))
		if err != nil {
			return err
		}
		// Bounds of 0 and 1 are those of what can be, others only those of a search.
		x, b := p.Fixed[name], n.usual(&guess{Data: groups[0].data, numbering: t.energies()}, energy).Bounds
		if b != nil && (b[0] == 0 && x < 0 || b[1] == 1 && x > 1) {
			return fmt.Errorf("measured: %s is fixed at %g: want %g to %g", name, x, b[0], b[1])
		}
	}
	for _, g := range groups {
		if err := t.parametersOf(p, g.nuisances, g.suffix, g.data, false); err != nil {
			return err
		}
	}
	single, _ := selected(t.models())
	for _, part := range single.parts {
		name := part.scaleName(t.models())
		if name == "" || t.has(part.noise.scale) || t.has(name) {
			continue
		}
		if err := t.parametersOf(p, map[string]morph.ProblemParam{part.noise.scale: {}}, t.models()[part.model].Suffix, groups[0].data, false); err != nil {
			return err
		}
	}
	return nil
}

// nuisance returns the parameter of the measurement of a name, and the index of its energy.
func (t *Task) nuisance(name string) (Nuisance, int, error) {
	energies, materials := len(t.energies()), len(t.Model.Tables)+len(matrixOf(t.Model))
	n, energy, ok := nuisanceOf(name, energies, materials)
	if !ok {
		return n, 0, t.unknown(name, energies, materials)
	}
	return n, energy, nil
}

// parametersOf takes over parameters whose names get a suffix. Nuisances start from some data.
func (t *Task) parametersOf(p *morph.Problem, list map[string]morph.ProblemParam, suffix string, d *Data, morphology bool) error {
	g := &guess{Data: d, numbering: t.energies()}
	isMorphology := func(name string) bool { return morphology && slices.Contains(t.Model.Morphology, name) }
	rank := func(name string) int {
		if isMorphology(name) {
			return slices.Index(t.Model.Morphology, name)
		}
		n, _, _ := t.nuisance(name)
		return len(t.Model.Morphology) + slices.IndexFunc(nuisances, func(m Nuisance) bool { return m.Name == n.Name })
	}
	names := slices.Sorted(maps.Keys(list))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	for _, name := range names {
		q := Param{Bounds: p.Bounds(name)}
		if !isMorphology(name) {
			n, energy, err := t.nuisance(name)
			if err != nil {
				return err
			}
			why := d.lacks(name)
			if suffix == "" {
				why = t.lacks(name)
			}
			if why != "" {
				return fmt.Errorf("measured: the data cannot have the parameter %q: %s", name, why)
			}
			q = n.usual(g, energy)
		}
		q.Name = name + suffix
		if err := q.take(list[name], isMorphology(name)); err != nil {
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
	q.given = len(p.Start) > 0
	if p.Prior != "" {
		q.Mean, q.SD, q.Prior = 0, 0, nil
		m := normal.FindStringSubmatch(p.Prior)
		if m == nil {
			if err := q.distribution(p); err != nil {
				return err
			}
		} else {
			var err1, err2 error
			q.Mean, err1 = strconv.ParseFloat(m[1], 64)
			q.SD, err2 = strconv.ParseFloat(m[2], 64)
			if err1 != nil || err2 != nil || !(q.SD > 0) || math.IsInf(q.SD, 0) {
				return fmt.Errorf("measured: the prior of %s is %s: want numbers, and a standard deviation above 0", q.Name, p.Prior)
			}
			if len(p.Start) == 0 {
				q.Start, q.given = q.Mean, true
			}
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

// distribution takes over a prior that is not Gaussian. Without a start, the search begins at its mean, or in the middle of its range.
func (q *Param) distribution(p morph.ProblemParam) error {
	d, err := dist.Parse(p.Prior)
	if err != nil {
		return fmt.Errorf("measured: the prior of %s: %w", q.Name, err)
	}
	low, high, err := dist.Range(d)
	if err != nil || d.Event > 0 || d.Discrete {
		return fmt.Errorf("measured: the prior of %s is %s: want a distribution of single numbers that are not discrete", q.Name, p.Prior)
	}
	if b := cmp.Or(len(p.Bounds), 0); b == 2 && (p.Bounds[0] >= high || p.Bounds[1] <= low) {
		return fmt.Errorf("measured: the prior %s of %s lies between %g and %g, outside the bounds %g to %g: change one of them", p.Prior, q.Name, low, high, p.Bounds[0], p.Bounds[1])
	}
	if q.Bounds != nil { // usual bounds give way to the range of the prior
		low, high = max(low, q.Bounds[0]), min(high, q.Bounds[1])
		if p.Bounds == nil && !(low < high) {
			low, high, _ = dist.Range(d)
		}
	}
	q.Prior, q.Bounds = &d, nil
	if !math.IsInf(low, -1) || !math.IsInf(high, 1) {
		q.Bounds = []float64{low, high}
	}
	if len(p.Start) == 0 && !(q.Start > low && q.Start < high && !math.IsInf(q.logPrior(q.Start), 0)) || len(p.Start) == 0 && !q.given {
		if numbers, err := dist.Numbers(d); err == nil {
			var flat []float64
			for _, n := range numbers {
				flat = append(flat, n...)
			}
			if m := d.Mean(flat); m > low && m < high {
				q.Start, q.given = m, true
				return nil
			}
		}
		q.Start = max(min(q.Start, high), low)
		if !math.IsInf(low, 0) && !math.IsInf(high, 0) {
			q.Start = (low + high) / 2
		}
	}
	return nil
}

func below(folder, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(folder, name)
}
