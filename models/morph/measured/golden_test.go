// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
	"github.com/euryale-dev/euryale/tensor"
)

// truth is truth.json of a reference: a synthetic measurement with everything that made it.
type truth struct {
	Parameters map[string]struct {
		Truth float64
		CRB   float64 `json:"crb_sd"`
		Prior string
	}
	Grid struct {
		Shape        [3]int
		Voxel, Width float64
	}
	Geometry struct {
		Pixel    float64    `json:"pixel_mm"`
		Distance float64    `json:"distance_mm"`
		Rot      [3]float64 `json:"rot_rad"`
		Centre   []float64  `json:"nominal_centre_index"`
		Poni     []float64  `json:"nominal_poni_index"`
	}
	Constants     map[string][][4]float64
	Order         string `json:"constants_order"`
	Energies      []float64
	Polarizations []float64
	Exposures     []float64
	Exposure      float64
	Flux          []float64 `json:"i0"`
	Transmission  []float64
	Dark          float64
}

// reference is a synthetic measurement as a model, with its true parameters.
type reference struct {
	truth
	dir      string
	problem  *morph.Problem
	model    measured.Model
	expected []float64
}

// openReference reads a set: the parameters tell which model it is of.
func openReference(t testing.TB, dir string) *reference {
	t.Helper()
	r := &reference{dir: dir}
	golden.JSON(t, &r.truth, dir, "truth.json")
	r.problem = &morph.Problem{Model: "grain", Grid: morph.ProblemGrid{Shape: r.Grid.Shape, Voxel: r.Grid.Voxel}, Fixed: map[string]float64{}}
	if _, ok := r.Parameters["radius"]; ok {
		r.problem.Model = "core_shell"
		r.problem.Options.Width = r.Grid.Width
	}
	b, err := os.ReadFile(golden.Path(t, dir, "expected_counts.npz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := tensor.ReadNPZ(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	counts := z["mu"]
	r.expected = counts.Float64s()
	shape := counts.Shape()
	rows, columns := shape[len(shape)-2], shape[len(shape)-1]
	mask, err := os.ReadFile(golden.Path(t, dir, "mask.npy"))
	if err != nil {
		t.Fatal(err)
	}
	bad, err := tensor.ReadNPY(bytes.NewReader(mask))
	if err != nil {
		t.Fatal(err)
	}
	foot := slices.Concat(r.Geometry.Centre, r.Geometry.Poni) // x, y
	d := &measured.Data{Detector: farfield.Detector{Rows: rows, Columns: columns, PixelY: r.Geometry.Pixel, PixelX: r.Geometry.Pixel},
		Geometry: measured.Geometry{Distance: r.Geometry.Distance, PoniY: (foot[1] + 0.5) * r.Geometry.Pixel, PoniX: (foot[0] + 0.5) * r.Geometry.Pixel,
			Rot1: r.Geometry.Rot[0], Rot2: r.Geometry.Rot[1], Rot3: r.Geometry.Rot[2]}}
	for _, x := range bad.Float64s() {
		d.Keep = append(d.Keep, x == 0)
	}
	angles, exposure := r.Polarizations, r.Exposure
	if angles == nil {
		angles = []float64{0}
	}
	if exposure == 0 {
		exposure = slices.Max(r.Exposures)
	}
	for i, e := range r.Energies {
		for _, angle := range angles {
			f := measured.Frame{Energy: e, Angle: angle, Exposure: exposure, Dark: r.Dark, Counts: r.expected[len(d.Frames)*rows*columns:][:rows*columns]}
			if r.Flux != nil { // then the transmission was measured, too
				f.Flux, f.Transmission = r.Flux[i], r.Transmission[i]
			}
			d.Frames = append(d.Frames, f)
		}
	}
	r.model = measured.Model{Data: d, Grid: morph.Grid{Shape: r.Grid.Shape, Voxel: r.Grid.Voxel}, Scene: r.problem.Morphology, SolidAngle: r.Flux != nil}
	r.readConstants(t)
	return r
}

// readConstants takes the optical constants from truth.json or, if that has none, from the tables beside it, the matrix last.
func (r *reference) readConstants(t testing.TB) {
	var tables []measured.Table
	if r.Constants != nil {
		for m := range strings.Count(r.Order, ",") - 2 {
			var table measured.Table
			for _, e := range r.Energies {
				c := r.Constants[strconv.FormatFloat(e, 'f', 1, 64)][m]
				table.Energies, table.Constants = append(table.Energies, e), append(table.Constants, rsoxs.Constants{DeltaPara: c[0], BetaPara: c[1], DeltaPerp: c[2], BetaPerp: c[3]})
			}
			tables = append(tables, table)
		}
	} else {
		names, err := filepath.Glob(filepath.Join(golden.Path(t, r.dir), "constants_*"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s has no constants: %v", r.dir, err)
		}
		slices.SortFunc(names, func(a, b string) int { // the matrix last
			return strings.Compare(strconv.FormatBool(strings.Contains(a, "matrix"))+a, strconv.FormatBool(strings.Contains(b, "matrix"))+b)
		})
		for _, name := range names {
			tables = append(tables, readTable(t, name))
		}
	}
	last := len(tables) - 1
	r.model.Tables, r.model.Matrix = tables[:last], &tables[last]
}

func readTable(t testing.TB, name string) (table measured.Table) {
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c := csv.NewReader(strings.NewReader(string(b)))
	if strings.Contains(string(b), "\t") {
		c.Comma = '\t'
	}
	rows, err := c.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, h := range rows[0] {
		at[strings.TrimSpace(strings.TrimPrefix(h, "#"))] = i
	}
	for _, row := range rows[1:] {
		x := func(h string) float64 {
			v, err := strconv.ParseFloat(strings.TrimSpace(row[at[h]]), 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		table.Energies = append(table.Energies, x("Energy"))
		table.Constants = append(table.Constants, rsoxs.Constants{DeltaPara: x("DeltaPara"), BetaPara: x("BetaPara"), DeltaPerp: x("DeltaPerp"), BetaPerp: x("BetaPerp")})
	}
	return table
}

// names returns the names of the parameters in a fixed order, and their true values.
func (r *reference) names() (names []string, x []float64) {
	for name := range r.Parameters {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		x = append(x, r.Parameters[name].Truth)
	}
	return names, x
}

// rates returns the expected counts as a graph over inputs, in the order of names.
func (r *reference) rates(t testing.TB) (rates *ad.Node, in []*ad.Node) {
	names, x := r.names()
	given := map[string]*ad.Node{}
	for _, name := range names {
		in = append(in, ad.Input(name))
		given[name] = in[len(in)-1]
	}
	of := r.problem.Values(given)
	at := func(name string) *ad.Node {
		if n := given[name]; n != nil || !slices.Contains(r.problem.MorphologyNames(), name) {
			return n
		}
		return of(name)
	}
	rates, err := r.model.Rates(at, func(name string) (float64, bool) {
		i := slices.Index(names, name)
		if i < 0 {
			return 0, false
		}
		return x[i], true
	})
	if err != nil {
		t.Fatal(err)
	}
	return rates, in
}

// The expected counts of the references come out of their parameters alone.
func TestExpectedCounts(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		r := openReference(t, path.Dir(name))
		r.model.Tolerance = 1e-8
		rates, in := r.rates(t)
		p, err := ad.Compile([]*ad.Node{rates}, ad.Settings{Inputs: in})
		if err != nil {
			t.Fatal(err)
		}
		st := p.NewState()
		_, x := r.names()
		for i, v := range x {
			st.Input(i)[0] = v
		}
		if err := st.Run(); err != nil {
			t.Fatal(err)
		}
		worst, at := 0.0, 0
		for i, v := range st.Output(0) {
			if keep := r.model.Data.Keep; !keep[i%len(keep)] {
				continue
			}
			if e := math.Abs(v/r.expected[i] - 1); e > worst {
				worst, at = e, i
			}
		}
		if !(worst < 1e-6) {
			t.Errorf("%d pixels: off by at most %.2g (pixel %d: %g, want %g)", len(r.expected), worst, at, st.Output(0)[at], r.expected[at])
		}
	})
}

// drawn returns the reference's measurement with counts drawn about their expectations, all exposures of it.
func (r *reference) drawn(seed uint64) *measured.Data {
	d := *r.model.Data
	d.Frames = nil
	exposures := r.Exposures
	if exposures == nil {
		exposures = []float64{r.Exposure}
	}
	random := rand.New(rand.NewPCG(seed, 77))
	for _, f := range r.model.Data.Frames {
		for _, t := range exposures {
			g := f
			g.Exposure, g.Counts = t, make([]float64, len(f.Counts))
			for i, mu := range f.Counts {
				g.Counts[i] = distuv.Poisson{Lambda: mu * t / f.Exposure, Src: random}.Rand()
			}
			d.Frames = append(d.Frames, g)
		}
	}
	return &d
}

// task is a fit of a draw from starting values that are a fifth off.
func (r *reference) task(t testing.TB, d *measured.Data) *measured.Task {
	names, x := r.names()
	model := r.model
	model.Data = d
	known := r.problem.MorphologyNames()
	model.Morphology, model.Width = known, cmp.Or(r.Grid.Width, r.Grid.Voxel/2)
	k := &measured.Task{Model: &model}
	model.Scene = func(at morph.Values) morph.Scene {
		given := map[string]*ad.Node{}
		for _, name := range known {
			if n := at(name); n != nil {
				given[name] = n
			}
		}
		return r.problem.Morphology(r.problem.Values(given))
	}
	for i, name := range names {
		p := measured.Param{Name: name, Start: x[i] * 0.8}
		if strings.HasPrefix(name, "centre") || strings.HasSuffix(name, "deg") || strings.HasPrefix(name, "scale_") {
			p.Start = x[i] * 0.95
		}
		if name == "resolution" || name == "background" || name == "background_q4" {
			p.Bounds = []float64{0, 100}
		}
		if prior := r.Parameters[name].Prior; prior != "" {
			if _, err := fmt.Sscanf(prior, "normal(%g, %g)", &p.Mean, &p.SD); err != nil {
				t.Fatal(err)
			}
			p.Start = p.Mean
		}
		k.Params = append(k.Params, p)
	}
	return k
}

// closed is a fit of a draw in closed form, from the truth: it has the expectations of the voxels to 0.02 standard deviations of a count.
func (r *reference) closed(t testing.TB, d *measured.Data) *measured.Task {
	k := r.task(t, d)
	known := k.Model.Morphology
	r.problem.Options.Closed, r.problem.Parameters = true, map[string]morph.ProblemParam{}
	for name, q := range r.Parameters {
		r.problem.Parameters[name] = morph.ProblemParam{Start: morph.StartValues{q.Truth}}
	}
	k.Model.Closed = func(at morph.Values, q float64) morph.ClosedForm {
		given := map[string]*ad.Node{}
		for _, name := range known {
			if n := at(name); n != nil {
				given[name] = n
			}
		}
		return r.problem.Closed(r.problem.Values(given), q)
	}
	for i, p := range k.Params {
		k.Params[i].Start = r.Parameters[p.Name].Truth
	}
	return k
}

// expectClosed replaces the expectations by those of the closed form, from which draws are then made: coarse voxels move parameters that tens
// of thousands of pixels know by a standard deviation.
func (r *reference) expectClosed(t testing.TB) {
	all := *r.model.Data
	all.Keep = nil
	mu, err := r.closed(t, &all).Means()
	if err != nil {
		t.Fatal(err)
	}
	d := *r.model.Data
	d.Frames = slices.Clone(d.Frames)
	for i := range d.Frames {
		n := len(d.Frames[i].Counts)
		d.Frames[i].Counts, mu = mu[:n], mu[n:]
	}
	r.model.Data = &d
}
