// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/desi"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/tensor"
)

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestBridgeAgainstTheReference(t *testing.T) {
	var cases []struct {
		Spec []float64
		Mask []int
		Out  []float64
	}
	golden.JSON(t, &cases, "spectra", "resolution", "interpolate_bad_regions.json")
	for i, c := range cases {
		mark := make([]bool, len(c.Mask))
		for k, m := range c.Mask {
			mark[k] = m != 0
		}
		for k, got := range Bridge(c.Spec, mark) {
			if math.Abs(got-c.Out[k]) > 1e-14*(1+math.Abs(c.Out[k])) {
				t.Errorf("case %d, pixel %d: got %v, want %v", i, k, got, c.Out[k])
			}
		}
	}
}

// selectionOf returns the selection of a run, and whether it used resolution matrices.
func selectionOf(t *testing.T, run desi.Run) (s Selection, resolution bool) {
	f := run.Flags(t)
	return Selection{Arms: f.Arms, TargetIDs: f.TargetIDs, ObjTypes: f.ObjTypes, MinSN: f.MinSN, MinExpID: f.MinExpID, MaxExpID: f.MaxExpID, StarsOnly: f.StarsOnly, WithRedshifts: f.WithRedshifts}, f.Resolution
}

func columnOf(t *testing.T, tab *fits.Table, name string) *fits.Column {
	return must[*fits.Column](t)(tab.Column(name))
}

// The reference's tables are written again from the fits that they list: the same rows are chosen, the
// same pixels are good, and columns, types, units, comments and numbers are those of the reference.
func TestTablesOfTheReference(t *testing.T) {
	for _, run := range desi.Runs(t) {
		t.Run(run.Run, func(t *testing.T) {
			d := must[*DESI](t)(OpenDESI(run.Coadd(t)))
			defer d.Close()
			s, resolution := selectionOf(t, run)
			chosen := must[*Chosen](t)(d.Select(s))
			ref := must[*fits.File](t)(fits.Open(run.Table(t)))
			defer ref.Close()
			if err := ref.Verify(); err != nil {
				t.Error(err)
			}
			want := must[*fits.Table](t)(ref.Table("RVTAB"))
			var ids []int64
			for _, row := range chosen.Rows {
				ids = append(ids, d.TargetID[row])
			}
			if !slices.Equal(ids, must[[]int64](t)(columnOf(t, want, "TARGETID").Int64s())) || len(ids) != run.NTab {
				t.Fatalf("chose %v", ids)
			}
			r := fitted(t, d, chosen, want, run, resolution)
			name := filepath.Join(t.TempDir(), TableName(d.Name))
			if err := r.WriteTable(name); err != nil {
				t.Fatal(err)
			}
			ours := must[*fits.File](t)(fits.Open(name))
			defer ours.Close()
			if err := ours.Verify(); err != nil {
				t.Error(err)
			}
			sameTables(t, must[*fits.Table](t)(ours.Table("RVTAB")), want, run)
			for _, key := range []string{"FIBERMAP", "SCORES", "EXP_FIBERMAP"} {
				sameNumbers(t, must[*fits.Table](t)(ours.Table(key)), must[*fits.Table](t)(ref.Table(key)))
			}
			models := filepath.Join(t.TempDir(), ModelName(d.Name))
			if err := r.WriteModels(models); err != nil {
				t.Fatal(err)
			}
			checkModels(t, models, chosen, run.Models(t))
		})
	}
}

// fitted makes fits of the numbers of a table.
func fitted(t *testing.T, d *DESI, chosen *Chosen, want *fits.Table, run desi.Run, resolution bool) *Results {
	lo, hi := run.Velocities()
	r := &Results{Source: d, Chosen: chosen, Rows: make([]Row, len(chosen.Rows)), Command: "test", Libraries: []LibraryVersion{{"blue", "own", "git"}}, Software: [][2]string{{"euryale", "0"}}}
	v := map[string][]float64{}
	for _, c := range want.Columns() {
		v[c.Name], _ = c.Float64s()
	}
	for i := range r.Rows {
		arms := must[[]*Arm](t)(d.Fiber(chosen.Rows[i], chosen.Arms, resolution))
		good := 0
		row := &r.Rows[i]
		row.Fitted = !math.IsNaN(v["VRAD"][i])
		for _, a := range arms {
			n := 0
			for _, b := range a.Bad {
				if !b {
					n++
				}
			}
			good += n
			arm := strings.TrimPrefix(a.Name, "desi_")
			up := strings.ToUpper(arm)
			row.Arms = append(row.Arms, ArmFit{Arm: arm, Chisq: v["CHISQ_"+up][i], ChisqC: v["CHISQ_C_"+up][i], Pixels: n, Spectrum: make([]float32, len(a.Wave))})
			row.Arms[len(row.Arms)-1].Spectrum[0] = float32(i + 1)
		}
		if row.Fitted != (len(arms) > 0) || row.Fitted && float64(good) != v["NPIX_TOT"][i] {
			t.Errorf("fiber %d: %d arms with %d good pixels, want %v", chosen.Rows[i], len(arms), good, v["NPIX_TOT"][i])
		}
		*row = Row{Fitted: row.Fitted, Arms: row.Arms, VRad: v["VRAD"][i], VRadErr: v["VRAD_ERR"][i], VRadSkew: v["VRAD_SKEW"][i], VRadKurt: v["VRAD_KURT"][i], VSini: v["VSINI"][i], LogG: v["LOGG"][i], LogGErr: v["LOGG_ERR"][i],
			Teff: v["TEFF"][i], TeffErr: v["TEFF_ERR"][i], FeH: v["FEH"][i], FeHErr: v["FEH_ERR"][i], Alpha: v["ALPHAFE"][i], AlphaErr: v["ALPHAFE_ERR"][i], VRadCCF: v["VRAD_CCF"][i]}
		row.WarningFlags = row.Warn(lo, hi)
		if want := int64(v["RVS_WARN"][i]) &^ WarnHessian; row.WarningFlags != want {
			t.Errorf("fiber %d: RVS_WARN %d, want %d", chosen.Rows[i], row.WarningFlags, want)
		}
		row.BadHessian = int64(v["RVS_WARN"][i])&WarnHessian != 0
		row.WarningFlags = row.Warn(lo, hi)
	}
	return r
}

func sameTables(t *testing.T, got, want *fits.Table, run desi.Run) {
	a, b := got.Columns(), want.Columns()
	if last := len(a) - 1; a[last].Name != "NPIX_SPIKES" {
		t.Fatalf("the last column is %s: want one that the reference does not have", a[last].Name)
	}
	a = a[:len(a)-1]
	if len(a) != len(b) || len(a) != len(run.Columns) {
		t.Fatalf("%d columns, want %d", len(a), len(b))
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Format != b[i].Format || a[i].Unit != b[i].Unit || a[i].Name != run.Columns[i][0] {
			t.Errorf("column %d: %s %s %s, want %s %s %s", i, a[i].Name, a[i].Format, a[i].Unit, b[i].Name, b[i].Format, b[i].Unit)
		}
		key := fmt.Sprintf("TCOMM%d", i+1)
		if got.Header().Text(key) != want.Header().Text(key) {
			t.Errorf("%s: %q, want %q", key, got.Header().Text(key), want.Header().Text(key))
		}
		if m, w := must[[]bool](t)(a[i].Masked()), must[[]bool](t)(b[i].Masked()); !slices.Equal(m, w) {
			t.Errorf("mask of %s: %v, want %v", a[i].Name, m, w)
		}
	}
	sameNumbers(t, got, want)
}

func sameNumbers(t *testing.T, got, want *fits.Table) {
	t.Helper()
	if got.Len() != want.Len() {
		t.Fatalf("%d rows, want %d", got.Len(), want.Len())
	}
	for _, c := range want.Columns() {
		g := columnOf(t, got, c.Name)
		if c.Type() == "string" {
			if x, y := must[[]string](t)(g.Strings()), must[[]string](t)(c.Strings()); !slices.Equal(x, y) {
				t.Errorf("%s: %q, want %q", c.Name, x, y)
			}
			continue
		}
		x, y := must[[]float64](t)(g.Float64s()), must[[]float64](t)(c.Float64s())
		for i := range y {
			if math.Abs(x[i]-y[i]) > 1e-12*math.Abs(y[i]) || math.IsNaN(x[i]) != math.IsNaN(y[i]) {
				t.Errorf("%s[%d]: %v, want %v", c.Name, i, x[i], y[i])
			}
		}
	}
}

// checkModels holds that there is one model per row of the table.
func checkModels(t *testing.T, name string, chosen *Chosen, reference string) {
	f := must[*fits.File](t)(fits.Open(name))
	defer f.Close()
	ref := must[*fits.File](t)(fits.Open(reference))
	defer ref.Close()
	for i, h := range ref.HDUs() {
		if f.HDUs()[i].Name != h.Name {
			t.Errorf("HDU %d is %s, want %s", i, f.HDUs()[i].Name, h.Name)
		}
	}
	for _, key := range []string{"SPGRP", "SPGRPVAL", "HPXNSIDE"} {
		a, _ := f.HDUs()[0].Header.Get(key)
		b, _ := ref.HDUs()[0].Header.Get(key)
		if a.Value != b.Value {
			t.Errorf("%s is %v, want %v", key, a.Value, b.Value)
		}
	}
	for _, arm := range chosen.Arms {
		im := must[*fits.Image](t)(f.Image(arm + "_MODEL"))
		if im.Shape()[0] != len(chosen.Rows) || im.Type() != "float32" {
			t.Errorf("models of %s: %v %s", arm, im.Shape(), im.Type())
		}
		v := must[[]float32](t)(im.Float32s())
		n := im.Shape()[1]
		for i := range chosen.Rows {
			if x := v[i*n]; x != 0 && x != float32(i+1) {
				t.Errorf("row %d of %s has the model of row %v", i, arm, x-1)
			}
		}
	}
}

func TestNothingChosen(t *testing.T) {
	d := must[*DESI](t)(OpenDESI(coadd(t)))
	defer d.Close()
	chosen := must[*Chosen](t)(d.Select(Selection{TargetIDs: []int64{}}))
	r := &Results{Source: d, Chosen: chosen}
	dir := t.TempDir()
	if err := errors.Join(r.WriteTable(filepath.Join(dir, "a.fits")), r.WriteModels(filepath.Join(dir, "b.fits"))); err != nil {
		t.Fatal(err)
	}
	f := must[*fits.File](t)(fits.Open(filepath.Join(dir, "a.fits")))
	defer f.Close()
	if tab := must[*fits.Table](t)(f.Table("RVTAB")); tab.Len() != 0 || must[*fits.Table](t)(f.Table("FIBERMAP")).Len() != 0 {
		t.Error("rows of nothing")
	}
}

// Names of files in any language, and text that a damaged file has, end no table.
func TestTablesHoldAnyText(t *testing.T) {
	d := must[*DESI](t)(OpenDESI(coadd(t)))
	defer d.Close()
	chosen := must[*Chosen](t)(d.Select(Selection{TargetIDs: []int64{firstTarget}}))
	chosen.RedshiftFile, chosen.SpecType[0] = "donn\u00e9es/\U0001F30C.fits", "ST\xb9R"
	r := &Results{Source: d, Chosen: chosen, Rows: make([]Row, len(chosen.Rows)), Command: "fit \u661f", Config: "c\u00e9.yaml"}
	dir := t.TempDir()
	if err := errors.Join(r.WriteTable(filepath.Join(dir, "a.fits")), r.WriteModels(filepath.Join(dir, "b.fits"))); err != nil {
		t.Fatal(err)
	}
	f := must[*fits.File](t)(fits.Open(filepath.Join(dir, "a.fits")))
	defer f.Close()
	h := f.HDUs()[0].Header
	for key, want := range map[string]string{"RVS_CONF": `c\u00e9.yaml`, "RVS_CMD": `fit \u661f`, "RR_FILE": `donn\u00e9es/\U0001f30c.fits`} {
		if got := h.Text(key); got != want {
			t.Errorf("%s is %q: want %q", key, got, want)
		}
	}
	kinds := must[[]string](t)(columnOf(t, must[*fits.Table](t)(f.Table("RVTAB")), "RR_SPECTYPE").Strings())
	if !slices.Equal(kinds, []string{"ST?R"}) {
		t.Errorf("RR_SPECTYPE is %q", kinds)
	}
}

func TestSelections(t *testing.T) {
	d := must[*DESI](t)(OpenDESI(coadd(t)))
	defer d.Close()
	for _, c := range []struct {
		s    Selection
		want []int
	}{
		{Selection{}, []int{0, 3, 4, 5, 6, 7, 8}},
		{Selection{MinSN: 60}, []int{0, 4, 7}},
		{Selection{TargetIDs: []int64{firstTarget, firstTarget + 1, firstTarget + 2}}, []int{0}},
		{Selection{ObjTypes: []string{"SCND"}}, nil},
		{Selection{StarsOnly: true}, []int{0, 3, 4, 5, 6, 8}},
		{Selection{ObjTypes: []string{"STD_.*"}}, []int{0, 4, 5, 6, 7, 8}},
	} {
		if got := must[*Chosen](t)(d.Select(c.s)).Rows; !slices.Equal(got, c.want) {
			t.Errorf("%+v: chose %v, want %v", c.s, got, c.want)
		}
	}
	if twice := must[*Chosen](t)(d.Select(Selection{Arms: []string{"r", "b", "r"}})); !slices.Equal(twice.Arms, []string{"r", "b"}) {
		t.Errorf("arms named twice: %v", twice.Arms)
	}
	if _, err := d.Select(Selection{ObjTypes: []string{"NOSUCH"}}); err == nil || !strings.Contains(err.Error(), "MWS_ANY") {
		t.Errorf("an unknown type: %v", err)
	}
}

// Where a fiber has only good pixels, its S/N is the reference's.
func TestSignalToNoiseOfTheReference(t *testing.T) {
	for _, run := range desi.Runs(t) {
		d := must[*DESI](t)(OpenDESI(run.Coadd(t)))
		defer d.Close()
		if d.Scores == nil {
			t.Skipf("%s has no table SCORES", d.Name)
		}
		compared := 0
		for _, arm := range d.Arms {
			scores := d.Scores
			sn := must[[]float64](t)(d.SignalToNoise(arm))
			d.Scores = nil
			own := must[[]float64](t)(d.SignalToNoise(arm))
			d.Scores = scores
			for i := range sn {
				r := must[*Raw](t)(d.Raw(i, arm, false))
				if slices.Contains(r.Mask, true) || !(slices.Min(r.IVar) > 0) {
					continue // the reference counts bad pixels
				}
				if compared++; math.Abs(sn[i]-own[i]) > 1e-5*(1+math.Abs(sn[i])) {
					t.Errorf("fiber %d, arm %s: S/N %v computed, %v in SCORES", i, arm, own[i], sn[i])
				}
			}
		}
		t.Logf("%d spectra of %s were compared", compared, run.Run)
	}
}

func TestPrepare(t *testing.T) {
	nan := math.NaN()
	r := &Raw{Wave: []float64{4299, 4301, 4400, 4451, 4452, 4453, 4454, 4455}, Flux: []float64{2, 100, 4, 2, nan, 6, 2, 2}, IVar: []float64{1, 1, 1, 1, 1, 1e8, 0, 1}, Mask: []bool{false, false, false, false, false, false, false, false}}
	a := Prepare(r, Preparation{Dichroic: true})
	if want := []bool{false, true, true, false, true, false, true, false}; !slices.Equal(a.Bad, want) {
		t.Errorf("bad: %v, want %v", a.Bad, want)
	}
	if a.Unusable != 2 {
		t.Errorf("%d pixels are unusable, want 2", a.Unusable)
	}
	if want := []float64{2, 100, 4, 2, 4, 6, 4, 2}; !slices.Equal(a.Flux, want) {
		t.Errorf("flux: %v, want %v", a.Flux, want)
	}
	if want := []float64{1, 2000, 2000, 1, 2000, 0.3, 2000, 1}; !slices.Equal(a.Err, want) {
		t.Errorf("errors: %v, want %v", a.Err, want)
	}
	if a := Prepare(r, Preparation{LeastNear: NoFloor, Edges: 1}); a.Err[5] != 1e-4 || !a.Bad[0] || a.Bad[1] || a.Flux[0] != 2 {
		t.Errorf("without a floor: %+v", a)
	}
	for i := range r.Mask {
		r.Mask[i] = true
	}
	if Prepare(r, Preparation{}) != nil {
		t.Error("a spectrum without pixels is used")
	}
	if Prepare(&Raw{Wave: []float64{1, 2}, Flux: []float64{0, 0}, IVar: []float64{1, 1}}, Preparation{}) != nil {
		t.Error("a spectrum of zeros is used")
	}
}

// The inverse of the formula for air agrees with it: 6562.79 is H alpha in air, 6564.60 in vacuum.
func TestVacuum(t *testing.T) {
	for _, vac := range []float64{3000, 4000, 6564.6, 9000, 20000} {
		air := vac / (1 + 2.735182e-4 + 131.4182/(vac*vac) + 2.76249e8/(vac*vac*vac*vac))
		if got := Vacuum(air); math.Abs(got-vac) > 1e-11*vac {
			t.Errorf("got %v, want %v", got, vac)
		}
	}
	if got := Vacuum(6562.79); math.Abs(got-6564.60) > 0.01 {
		t.Errorf("H alpha: %v", got)
	}
}

func TestSDSS(t *testing.T) {
	golden.Each(t, "spectra/sdss/spec*.npy", testSDSS)
}

func testSDSS(t *testing.T, file string) {
	f := must[*os.File](t)(os.Open(golden.Path(t, file)))
	defer f.Close()
	rows := must[*tensor.Tensor](t)(tensor.ReadNPY(f))
	n := rows.Shape()[1]
	v := rows.Float64s()
	lam, flux, ivar := v[:n], v[n:2*n], v[2*n:3*n]
	dir := t.TempDir()
	loglam, mask := make([]float64, n), make([]int32, n)
	for i := range lam {
		loglam[i] = math.Log10(lam[i])
	}
	mask[7] = 1 << 23
	spec := filepath.Join(dir, "spec-0266-51602-0001.fits")
	w := must[*fits.Writer](t)(fits.Create(spec))
	w.Table("COADD", nil, []fits.Data{{Name: "flux", Values: flux}, {Name: "loglam", Values: loglam}, {Name: "ivar", Values: ivar}, {Name: "and_mask", Values: mask}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := must[*Raw](t)(ReadSDSS(spec, 1<<23))
	if math.Abs(r.Wave[100]/lam[100]-1) > 1e-14 || !r.Mask[7] || r.Mask[8] || r.Flux[3] != flux[3] {
		t.Errorf("%v %v", r.Wave[100], lam[100])
	}
	a := Prepare(r, Preparation{LeastNear: NoFloor})
	want := v[3*n:]
	for i := range want {
		if !a.Bad[i] && math.Abs(a.Err[i]/want[i]-1) > 1e-6 {
			t.Fatalf("error of pixel %d: %v, want %v", i, a.Err[i], want[i])
		}
	}
	plate := filepath.Join(dir, "spPlate.fits")
	w = must[*fits.Writer](t)(fits.Create(plate))
	h := &fits.Header{}
	h.Set("COEFF0", loglam[0], "")
	h.Set("COEFF1", 1e-4, "")
	w.Image("", h, []int{2, n}, append(slices.Clone(flux), flux...))
	w.Image("IVAR", nil, []int{2, n}, append(slices.Clone(ivar), ivar...))
	w.Image("ANDMASK", nil, []int{2, n}, append(slices.Clone(mask), mask...))
	w.Table("PLUGMAP", nil, []fits.Data{{Name: "RA", Values: []float64{1, 2}}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p := must[*Spectra](t)(OpenPlate(plate, 1<<23))
	defer p.Close()
	r = must[*Raw](t)(p.Raw(1))
	if p.N != 2 || p.Objects.Len() != 2 || r.Flux[5] != flux[5] || !r.Mask[7] || math.Abs(r.Wave[1]/math.Pow(10, loglam[0]+1e-4)-1) > 1e-14 {
		t.Errorf("%d spectra, %v", p.N, r.Wave[:2])
	}
}

func TestWEAVE(t *testing.T) {
	name := filepath.Join(t.TempDir(), "stack_1.fit")
	w := must[*fits.Writer](t)(fits.Create(name))
	h := &fits.Header{}
	h.Set("CRVAL1", 5772.0, "")
	h.Set("CRPIX1", 1.0, "")
	h.Set("CD1_1", 0.25, "")
	h.Set("CUNIT1", "Angstrom", "")
	h.Set("CTYPE1", "WAVE", "")
	w.Image("RED_DATA", h, []int{2, 4}, []float32{1, 2, 3, 4, 5, 6, 7, 8})
	w.Image("RED_IVAR", h, []int{2, 4}, []float32{1, 1, 0, 1, 1, 1, 1, 1})
	w.Table("FIBTABLE", nil, []fits.Data{{Name: "TARGID", Values: []string{"a", "b"}}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := must[*Spectra](t)(OpenWEAVE(name))
	defer s.Close()
	r := must[*Raw](t)(s.Raw(1))
	if s.Arm != "weave_red" || !slices.Equal(r.Flux, []float64{5, 6, 7, 8}) || !slices.Equal(r.Wave, []float64{5772, 5772.25, 5772.5, 5772.75}) {
		t.Errorf("%s %+v", s.Arm, r)
	}
}

func TestPlainSpectra(t *testing.T) {
	dir := t.TempDir()
	for i, c := range []struct {
		text string
		u    Units
		want []float64
	}{
		{"wavelength,flux,error\n5000,1,0.5\n5001,2,0.5\n", Units{}, []float64{5000, 5001}},
		{"# made by hand\nlam (nm), flux , ivar,mask\n500,1,4,0\n500.1,2,4,1\n", Units{}, []float64{5000, 5001}},
		{"wave_micron,flux,sigma\n0.5,1,0.5\n0.5001,2,0.5\n", Units{}, []float64{5000, 5001}},
		{"loglam,flux,err\n3.5,1,0.5\n3.6,2,0.5\n", Units{}, []float64{math.Pow(10, 3.5), math.Pow(10, 3.6)}},
		{"ln_lambda,flux,err\n8,1,0.5\n8.1,2,0.5\n", Units{}, []float64{math.Exp(8), math.Exp(8.1)}},
		{"wave_air,flux,err\n5000,1,0.5\n5001,2,0.5\n", Units{}, []float64{Vacuum(5000), Vacuum(5001)}},
		{"wave_air,flux,err\n5000,1,0.5\n5001,2,0.5\n", Units{Vacuum: true}, []float64{5000, 5001}},
		{"x,wave,flux,err\na,500,1,0.5\nb,500.1,2,0.5\n", Units{Wave: "nm"}, []float64{5000, 5001}},
	} {
		name := filepath.Join(dir, fmt.Sprintf("%d.csv", i))
		os.WriteFile(name, []byte(c.text), 0o644)
		r, err := ReadSpectrum(name, c.u)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		for k := range c.want {
			if math.Abs(r.Wave[k]/c.want[k]-1) > 1e-14 || r.IVar[k] != 4 || r.Flux[k] != float64(k+1) {
				t.Errorf("%q: %+v, want %v", c.text, r, c.want)
			}
		}
		if i == 1 && !slices.Equal(r.Mask, []bool{false, true}) {
			t.Errorf("mask %v", r.Mask)
		}
	}
	for text, want := range map[string]string{"wave,flux\n1,2\n": "error or ivar", "wave,flux,err\n2,1,1\n1,1,1\n": "sort", "wave,flux,err\n1,hot,1\n": "line 2 (flux)", "wave (furlong),flux,err\n1,1,1\n": "furlong"} {
		name := filepath.Join(dir, "bad.csv")
		os.WriteFile(name, []byte(text), 0o644)
		if _, err := ReadSpectrum(name, Units{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	table, image := filepath.Join(dir, "t.fits.gz"), filepath.Join(dir, "i.fits")
	w := must[*fits.Writer](t)(fits.Create(table))
	w.Table("SPECTRUM", nil, []fits.Data{{Name: "WAVE", Unit: "nm", Values: []float64{500, 500.1}, Shape: []int{2}}, {Name: "FLUX", Values: []float32{1, 2}, Shape: []int{2}}, {Name: "ERR", Values: []float32{0.5, 0.5}, Shape: []int{2}}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = must[*fits.Writer](t)(fits.Create(image))
	h := &fits.Header{}
	h.Set("CRVAL1", 5000.0, "")
	h.Set("CDELT1", 1.0, "")
	h.Set("CTYPE1", "AWAV", "")
	w.Image("", h, []int{2}, []float32{1, 2})
	w.Image("IVAR", nil, []int{2}, []float32{4, 4})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float64{table: {5000, 5001}, image: {Vacuum(5000), Vacuum(5001)}} {
		r := must[*Raw](t)(ReadSpectrum(name, Units{}))
		if math.Abs(r.Wave[1]-want[1]) > 1e-9 || r.IVar[1] != 4 || r.Flux[1] != 2 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// astropy reads our tables with the masks of the reference's.
func TestAstropyReadsOurTables(t *testing.T) {
	py := peer.Python(t, "astropy", "numpy")
	run := desi.Runs(t)[0]
	d := must[*DESI](t)(OpenDESI(run.Coadd(t)))
	defer d.Close()
	s, resolution := selectionOf(t, run)
	chosen := must[*Chosen](t)(d.Select(s))
	refName := run.Table(t)
	ref := must[*fits.File](t)(fits.Open(refName))
	defer ref.Close()
	r := fitted(t, d, chosen, must[*fits.Table](t)(ref.Table("RVTAB")), run, resolution)
	name := filepath.Join(t.TempDir(), "rvtab.fits")
	if err := r.WriteTable(name); err != nil {
		t.Fatal(err)
	}
	py.Run(t, `
import sys, warnings
import numpy as np
from astropy.io import fits
from astropy.table import Table
warnings.simplefilter("error")
fits.open(sys.argv[1], checksum=True).verify("exception")
a, b = Table.read(sys.argv[1], hdu="RVTAB"), Table.read(sys.argv[2], hdu="RVTAB")
assert a.colnames == b.colnames
for c in a.colnames:
    x, y = np.ma.array(a[c]), np.ma.array(b[c])
    assert x.dtype == y.dtype and a[c].unit == b[c].unit, c
    assert (np.ma.getmaskarray(x) == np.ma.getmaskarray(y)).all(), c
    if x.dtype.kind == "f":
        assert np.ma.allclose(x, y, rtol=1e-12), c
    else:
        assert (x == y).all() is not False, c
`, name, refName)
}

// FuzzDESI opens any bytes as a file of DESI, and as any other kind of file of spectra.
func FuzzDESI(f *testing.F) {
	small := filepath.Join(f.TempDir(), "coadd-x.fits")
	w := must[*fits.Writer](f)(fits.Create(small))
	w.Table("FIBERMAP", nil, []fits.Data{{Name: "TARGETID", Values: []int64{1, 2}}, {Name: "COADD_FIBERSTATUS", Values: []int32{0, 8}}, {Name: "OBJTYPE", Values: []string{"TGT", "SKY"}}, {Name: "DESI_TARGET", Values: []int64{1, 2}}})
	w.Image("B_WAVELENGTH", nil, []int{3}, []float64{4000, 4001, 4002})
	w.Image("B_FLUX", nil, []int{2, 3}, []float32{1, 2, 3, 4, 5, 6})
	w.Image("B_IVAR", nil, []int{2, 3}, []float32{1, 2, 0, 4, 5, 6})
	w.Image("B_MASK", nil, []int{2, 3}, []int32{1, 0, 0, 0, 0, 0})
	w.Image("B_RESOLUTION", nil, []int{2, 1, 3}, []float32{1, 1, 1, 1, 1, 1})
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(must[[]byte](f)(os.ReadFile(small)))
	f.Add([]byte("wave (nm),flux,err,mask\n500,1,1,0\n501,1,1,0\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		readText("x", b, Units{})
		file, err := fits.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		readFITS("x", file, Units{})
		d, err := newDESI("x", file)
		if err != nil {
			return
		}
		c, err := d.Select(Selection{ObjTypes: []string{"LRG"}})
		if err == nil && len(c.Rows) < 1000 {
			for _, row := range c.Rows {
				d.Fiber(row, c.Arms, true)
			}
			r := &Results{Source: d, Chosen: c, Rows: make([]Row, len(c.Rows))}
			r.columns()
		}
	})
}
