// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
)

// fitSpectra fits stellar spectra: the chosen fibers of files of DESI, each spectrum of other files. At the end
// files of DESI have tables and models in the folder desi, as fit spectra writes them.
type fitSpectra struct {
	Files           Texts  `yaml:"files" json:"-"`
	ConfigFile      string `yaml:"config" json:"-"`
	fitfile.Request `yaml:",inline"`
	OldPriors       setting.Texts `yaml:"-" json:"priors,omitempty"`      // as older manifests name them
	FitArm          []string      `yaml:"fitarm" json:"fitarm,omitempty"` // of DESI
	MinSN           float64       `yaml:"minsn" json:"minsn,omitempty"`
	Targets         []int64       `yaml:"targetid" json:"targetid,omitempty"`
	ObjTypes        []string      `yaml:"objtypes" json:"objtypes,omitempty"`
	StarsOnly       bool          `yaml:"zbest_select" json:"zbest_select,omitempty"`
	Redshifts       bool          `yaml:"zbest_include" json:"zbest_include,omitempty"`
	Arm             string        `yaml:"arm" json:"arm,omitempty"` // of the library, for files of one arm
	Power           float64       `yaml:"resolving_power" json:"resolving_power,omitempty"`
	MaskBits        int64         `yaml:"mask_bits" json:"mask_bits,omitempty"`
	NoModels        bool          `yaml:"no_models" json:"no_models,omitempty"` // keep no models of DESI's spectra
	Extra           bool          `yaml:"extra_columns" json:"extra_columns,omitempty"`

	Config *rvspecfit.Config `yaml:"-" json:"config"`
	Params []string          `yaml:"-" json:"params"` // of the library
}

func (f *fitSpectra) check() error {
	if f.MaskBits == 0 {
		f.MaskBits = 1 << 23
	}
	var errs []error
	if _, err := f.Request.Settings(); err != nil {
		errs = append(errs, err)
	}
	if f.Power < 0 || math.IsNaN(f.Power) {
		errs = append(errs, fmt.Errorf("resolving_power is %g: want a number above 0", f.Power))
	}
	if f.MaskBits < 0 {
		errs = append(errs, fmt.Errorf("mask_bits is %d: want bits of a mask, 0 or more", f.MaskBits))
	}
	for _, a := range f.FitArm {
		if a != "b" && a != "r" && a != "z" {
			errs = append(errs, fmt.Errorf("fitarm is %q: want b, r or z", a))
		}
	}
	return errors.Join(errs...)
}

// resolve reads the configuration, whose contents the manifest keeps, and the names of the parameters.
func (f *fitSpectra) resolve(p place, _ *batch.Header) error {
	f.Config = rvspecfit.DefaultConfig()
	if f.ConfigFile != "" {
		var err error
		if f.Config, err = rvspecfit.ReadConfig(located(p.folder, f.ConfigFile)); err != nil {
			return err
		}
	}
	if f.Library != "" {
		f.Config.Library = located(p.folder, f.Library)
	}
	f.Config.Continuum = f.Config.Continuum && !f.NoCCF
	dir, err := f.Config.Templates()
	if err != nil {
		return err
	}
	if f.Library = dir; !filepath.IsAbs(f.Library) {
		if f.Library, err = p.relative(dir); err != nil {
			return err
		}
	}
	f.Config.File, f.Config.Library, f.Config.Unused = filepath.Base(f.Config.File), "", nil
	pipe, err := f.pipeline(p.manifest, Env{})
	if err != nil {
		return err
	}
	f.Params, err = pipe.Params()
	return err
}

// pipeline returns what fits; folder is that of the manifest.
func (f *fitSpectra) pipeline(folder string, env Env) (*fitfile.Pipeline, error) {
	c := *f.Config
	c.Library = located(folder, f.Library)
	r := f.Request
	if r.Priors == nil {
		r.Priors = f.OldPriors
	}
	s, err := r.Settings()
	if err != nil {
		return nil, err
	}
	s.Config, s.Threads, s.Backend = &c, env.Threads, env.Backend
	return fitfile.New(s)
}

func (f *fitSpectra) selection() survey.Selection {
	return survey.Selection{Arms: f.FitArm, MinSN: f.MinSN, TargetIDs: f.Targets, ObjTypes: f.ObjTypes, StarsOnly: f.StarsOnly, WithRedshifts: f.Redshifts}
}

// inputs are the files of the library, beside the spectra. The manifest keeps the contents of the configuration.
func (f *fitSpectra) inputs(folder string) ([]string, error) {
	lib := located(folder, f.Library)
	id, err := foreign.Identify(lib, false)
	switch {
	case err != nil:
		return nil, err
	case id.Files == nil:
		return []string{f.Library}, nil
	}
	names := make([]string, len(id.Files))
	for i, n := range id.Files {
		names[i] = filepath.ToSlash(filepath.Join(f.Library, n))
	}
	return names, nil
}

// block keeps stars of a file together, which share what is read and compiled.
func (f *fitSpectra) block() int64 { return 64 }

// list gives an item for every star. A file that cannot be read is one item, which fails.
func (f *fitSpectra) list(p place, add adder) error {
	names, err := p.files(f.Files)
	if err != nil {
		return err
	}
	for _, name := range names {
		rows, err := f.rowsOf(located(p.manifest, name))
		if errors.As(err, new(*forPlainFiles)) {
			return err
		}
		if err != nil {
			rows = []int{0}
		}
		for i := 0; i < len(rows); {
			n := 1
			for i+n < len(rows) && rows[i+n] == rows[i]+n {
				n++
			}
			if err := add(name, int64(rows[i]), int64(n)); err != nil {
				return err
			}
			i += n
		}
	}
	return nil
}

// forPlainFiles says that settings for files of one arm were given for one of DESI.
type forPlainFiles struct{ name string }

func (e *forPlainFiles) Error() string {
	return fmt.Sprintf("%s is a file of DESI, for which arm and resolving_power cannot be used: use fitarm to choose arms, and resolution_matrix to use the resolution in the files", e.name)
}

// rowsOf returns the rows of a file to fit.
func (f *fitSpectra) rowsOf(name string) ([]int, error) {
	kind, err := fitfile.KindOf(name)
	if err != nil {
		return nil, err
	}
	if kind == fitfile.DESI {
		if f.Arm != "" || f.Power != 0 {
			return nil, &forPlainFiles{name}
		}
		d, err := survey.OpenDESI(name)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		chosen, err := d.Select(f.selection())
		if err != nil {
			return nil, err
		}
		return chosen.Rows, nil
	}
	s, err := fitfile.Open(name, f.MaskBits, survey.Units{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	rows := make([]int, s.N)
	for i := range rows {
		rows[i] = i
	}
	return rows, nil
}

func (f *fitSpectra) open(m *batch.Manifest, env Env) (batch.Task, error) {
	pipe, err := f.pipeline(m.Folder(), env)
	if err != nil {
		return nil, err
	}
	return &fitSpectraTask{fitSpectra: f, m: m, env: env, pipe: pipe, kinds: map[string]fitfile.Kind{}}, nil
}

type fitSpectraTask struct {
	*fitSpectra
	m    *batch.Manifest
	env  Env
	pipe *fitfile.Pipeline

	mu    sync.Mutex
	kinds map[string]fitfile.Kind
}

// desiArms are those whose chi-squares have columns.
var desiArms = []string{"b", "r", "z"}

// Columns returns the quantities from which the tables of DESI's files are made.
func (t *fitSpectraTask) Columns() []batch.Column { return t.columns() }

func (f *fitSpectra) columns() []batch.Column {
	c := []batch.Column{{Name: "file", Kind: batch.Text}, {Name: "row", Kind: batch.Integer}, {Name: "target", Kind: batch.Text},
		{Name: "vrad", Unit: "km/s"}, {Name: "vrad_err", Unit: "km/s"}, {Name: "vrad_skew"}, {Name: "vrad_kurt"}, {Name: "vrad_err_marginal", Unit: "km/s"}, {Name: "vsini", Unit: "km/s"}, {Name: "vsini_err", Unit: "km/s"}}
	for _, p := range f.Params {
		unit := ""
		if p == "teff" {
			unit = "K"
		}
		c = append(c, batch.Column{Name: p, Unit: unit}, batch.Column{Name: p + "_err", Unit: unit})
	}
	c = append(c, batch.Column{Name: "chi2"}, batch.Column{Name: "chi2_continuum"}, batch.Column{Name: "pixels", Kind: batch.Integer})
	for _, a := range desiArms {
		c = append(c, batch.Column{Name: "chi2_" + a}, batch.Column{Name: "chi2_continuum_" + a}, batch.Column{Name: "pixels_" + a, Kind: batch.Integer})
	}
	return append(c, batch.Column{Name: "vrad_ccf", Unit: "km/s"}, batch.Column{Name: "rvs_warn", Kind: batch.Integer}, batch.Column{Name: "bad_hessian", Kind: batch.Integer},
		batch.Column{Name: "model_p"}, batch.Column{Name: "judged", Kind: batch.Integer}, batch.Column{Name: "model_ok", Kind: batch.Integer}, batch.Column{Name: "pixels_left_out", Kind: batch.Integer}, batch.Column{Name: "fitted", Kind: batch.Integer}, batch.Column{Name: "message", Kind: batch.Text})
}

func (t *fitSpectraTask) kindOf(file string) (fitfile.Kind, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k, ok := t.kinds[file]; ok {
		return k, nil
	}
	k, err := fitfile.KindOf(file)
	if err == nil {
		t.kinds[file] = k
	}
	return k, err
}

// Do fits the stars of one file.
func (t *fitSpectraTask) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	file := path(t.m, items.Source)
	kind, err := t.kindOf(file)
	if err != nil {
		return err
	}
	if kind != fitfile.DESI {
		return t.plain(ctx, file, items, put)
	}
	messages := map[int]string{}
	job := fitfile.DESIJob{Select: t.selection(), Rows: func(row int) bool { return int64(row) >= items.Row && int64(row) < items.Row+items.Count },
		Failed: func(row int, err error) { messages[row] = err.Error() }}
	out, err := t.pipe.DESI(ctx, file, job)
	if err != nil {
		return err
	}
	r := out.Results
	if len(r.Rows) != int(items.Count) {
		return fmt.Errorf("only %d of its fibers %d to %d are selected now: if the file has changed since the list was made, make a new list", len(r.Rows), items.Row, items.Row+items.Count-1)
	}
	if !t.NoModels {
		if err := t.keepModels(items, r.Rows); err != nil {
			return err
		}
	}
	for i := range r.Rows {
		put(t.record(items.Item+int64(i), items.Source, int(items.Row)+i, fmt.Sprint(r.Source.TargetID[r.Chosen.Rows[i]]), &r.Rows[i], messages[r.Chosen.Rows[i]]))
	}
	return nil
}

// plain fits spectra that are not DESI's.
func (t *fitSpectraTask) plain(ctx context.Context, file string, items batch.Range, put func(batch.Record)) error {
	s, err := fitfile.Open(file, t.MaskBits, survey.Units{})
	if err != nil {
		return err
	}
	defer s.Close()
	var stars []spectra.Star
	var place []int64
	for i := range items.Count {
		row := int(items.Row + i)
		if row >= s.N {
			put(batch.Record{Item: items.Item + i, Err: fmt.Sprintf("there is no spectrum %d: the file has %d", row+1, s.N)})
			continue
		}
		spec, _, err := t.pipe.Spectrum(s, row, fitfile.Taking{Arm: t.Arm, Power: t.Power})
		switch {
		case err != nil:
			put(batch.Record{Item: items.Item + i, Err: err.Error()})
		case spec == nil:
			put(t.record(items.Item+i, items.Source, row, fmt.Sprint(row+1), &survey.Row{WarningFlags: survey.WarnSpectrum}, "no data that can be used"))
		default:
			stars, place = append(stars, spectra.Star{Name: fmt.Sprint(row + 1), Spectra: []spectra.Spectrum{*spec}}), append(place, i)
		}
	}
	if len(stars) == 0 {
		return nil
	}
	outcomes, err := t.pipe.Fit(ctx, stars)
	if err != nil {
		return err
	}
	for k := range outcomes {
		o := &outcomes[k]
		if o.Fit.Err != nil {
			put(batch.Record{Item: items.Item + place[k], Err: o.Fit.Err.Error()})
			continue
		}
		row := t.pipe.Row(o)
		put(t.record(items.Item+place[k], items.Source, int(items.Row+place[k]), stars[k].Name, &row, ""))
	}
	return nil
}

// parameter returns the place of a library's parameter in a row.
func parameter(r *survey.Row, name string) (x, sd *float64) {
	switch name {
	case "teff":
		return &r.Teff, &r.TeffErr
	case "logg":
		return &r.LogG, &r.LogGErr
	case "feh":
		return &r.FeH, &r.FeHErr
	case "alpha":
		return &r.Alpha, &r.AlphaErr
	}
	i := slices.IndexFunc(r.Others, func(p survey.Parameter) bool { return p.Name == name })
	if i < 0 {
		r.Others = append(r.Others, survey.Parameter{Name: name})
		i = len(r.Others) - 1
	}
	return &r.Others[i].Value, &r.Others[i].Err
}

func (f *fitSpectra) record(item int64, source string, row int, target string, r *survey.Row, message string) batch.Record {
	chi, cont, pixels := 0.0, 0.0, 0
	for _, a := range r.Arms {
		chi, cont, pixels = chi+a.Chisq, cont+a.ChisqC, pixels+a.Pixels
	}
	one := *r
	if !r.Fitted {
		nan := math.NaN()
		one = survey.Row{VRad: nan, VRadErr: nan, VRadSkew: nan, VRadKurt: nan, VRadMarginal: nan, VSini: nan, VSiniErr: nan, VRadCCF: nan, P: nan, WarningFlags: r.WarningFlags}
		chi, cont = nan, nan
	}
	n := []float64{float64(row), one.VRad, one.VRadErr, one.VRadSkew, one.VRadKurt, one.VRadMarginal, one.VSini, one.VSiniErr}
	for _, p := range f.Params {
		x, sd := parameter(&one, p)
		if r.Fitted {
			n = append(n, *x, *sd)
		} else {
			n = append(n, math.NaN(), math.NaN())
		}
	}
	n = append(n, chi, cont, float64(pixels))
	for _, name := range desiArms {
		i := slices.IndexFunc(one.Arms, func(a survey.ArmFit) bool { return a.Arm == name })
		if i < 0 {
			n = append(n, math.NaN(), math.NaN(), 0)
		} else {
			n = append(n, one.Arms[i].Chisq, one.Arms[i].ChisqC, float64(one.Arms[i].Pixels))
		}
	}
	n = append(n, one.VRadCCF, float64(one.WarningFlags), truth(one.BadHessian), one.P, truth(one.Judged), truth(r.Fitted && !one.Disagrees), float64(one.LeftOut), truth(r.Fitted))
	return batch.Record{Item: item, Numbers: n, Texts: []string{source, target, message}}
}

// row is the inverse of record.
func (f *fitSpectra) row(r *batch.Record) (row int, out survey.Row) {
	n := r.Numbers
	take := func() float64 {
		v := n[0]
		n = n[1:]
		return v
	}
	row = int(take())
	for _, to := range []*float64{&out.VRad, &out.VRadErr, &out.VRadSkew, &out.VRadKurt, &out.VRadMarginal, &out.VSini, &out.VSiniErr} {
		*to = take()
	}
	nan := math.NaN()
	out.Teff, out.TeffErr, out.LogG, out.LogGErr, out.FeH, out.FeHErr, out.Alpha, out.AlphaErr = nan, nan, nan, nan, nan, nan, nan, nan
	for _, p := range f.Params {
		x, sd := take(), take()
		to, err := parameter(&out, p)
		*to, *err = x, sd
	}
	n = n[3:]
	for _, name := range desiArms {
		a := survey.ArmFit{Arm: name, Chisq: take(), ChisqC: take(), Pixels: int(take())}
		if !math.IsNaN(a.Chisq) {
			out.Arms = append(out.Arms, a)
		}
	}
	out.VRadCCF, out.WarningFlags = take(), int64(take())
	out.BadHessian = take() != 0
	out.P = take()
	out.Judged = take() != 0
	agrees := take() != 0
	out.LeftOut = int(take())
	out.Fitted = take() != 0
	out.Disagrees = out.Fitted && !agrees
	return row, out
}

const modelsKind, modelsVersion = "SPECTRA-MODELS", 1

func modelsFolder(folder, source string) string {
	return filepath.Join(folder, "models", imageFolder(source))
}

// keepModels writes the models of some rows of a file.
func (t *fitSpectraTask) keepModels(items batch.Range, rows []survey.Row) error {
	dir := modelsFolder(t.env.Folder, items.Source)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, fmt.Sprintf("%09d-%09d", items.Row, items.Row+items.Count-1)), true, func(w io.Writer) error {
		return checkpoint.Write(w, modelsKind, modelsVersion, func(e *checkpoint.Encoder) {
			e.Int(len(rows))
			for i, r := range rows {
				e.Int(int(items.Row) + i)
				e.Int(len(r.Arms))
				for _, a := range r.Arms {
					e.String(a.Arm)
					e.Float32s(a.Spectrum)
				}
			}
		})
	})
}

// readModels gives the models of a file to their rows.
func readModels(dir string, rows map[int]*survey.Row) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		if atomicfile.Temporary(entry.Name()) {
			continue
		}
		file, err := foreign.Open(name)
		if err != nil {
			return err
		}
		err = checkpoint.Read(file, modelsKind, modelsVersion, func(d *checkpoint.Decoder) {
			for range d.Int() {
				row := rows[d.Int()]
				for range d.Int() {
					arm, v := d.String(), d.Float32s()
					if d.Err() != nil {
						return
					}
					if row == nil {
						continue
					}
					if i := slices.IndexFunc(row.Arms, func(a survey.ArmFit) bool { return a.Arm == arm }); i >= 0 {
						row.Arms[i].Spectrum = v
					}
				}
				if d.Err() != nil {
					return
				}
			}
		})
		file.Close()
		if err != nil {
			return fmt.Errorf("%s cannot be read (%w): remove it together with the results of its rows, and run the list again", name, err)
		}
	}
	return nil
}

// judge says which models disagree with the data.
func (f *fitSpectra) judge(r *batch.Record) (badness float64, why string) {
	_, row := f.row(r)
	switch {
	case !row.Fitted:
		return 0, ""
	case row.Disagrees:
		return 1 - math.Log10(max(row.P, 1e-300)), fmt.Sprintf("the model disagrees with the data (p = %.2g)", row.P)
	}
	return 0, ""
}

func (f *fitSpectra) extension() string { return "STARS" }

func (f *fitSpectra) values() []string {
	list := []string{"vrad", "vrad_err", "vsini"}
	return append(list, f.Params...)
}

// conclude writes the tables of DESI's files.
func (f *fitSpectra) conclude(g *Merged, env Env, folder string, each func(put func(batch.Record) error) error) error {
	tables := filepath.Join(folder, "desi")
	var source string
	rows := map[int]*survey.Row{}
	var order []int
	files, fibers := 0, 0
	flush := func() error {
		defer func() { rows, order = map[int]*survey.Row{}, nil }()
		if len(order) == 0 {
			return nil
		}
		file := located(g.Manifest.Folder(), source)
		if kind, err := fitfile.KindOf(file); err != nil || kind != fitfile.DESI {
			return err
		}
		names, err := f.writeDESI(file, source, tables, modelsFolder(env.Folder, source), g.Manifest, rows, order)
		for _, n := range names {
			g.Files = append(g.Files, filepath.ToSlash(filepath.Join("desi", n)))
		}
		files, fibers = files+1, fibers+len(order)
		return err
	}
	err := each(func(r batch.Record) error {
		if r.Err != "" {
			return nil // in the table of failures
		}
		if r.Texts[0] != source {
			if err := flush(); err != nil {
				return err
			}
			source = r.Texts[0]
		}
		row, fit := f.row(&r)
		rows[row] = &fit
		order = append(order, row)
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err == nil && files > 0 {
		g.Finding = fmt.Sprintf("%d fibers of %d files are in the tables of %s", fibers, files, tables)
	}
	return err
}

// writeDESI writes the table and the models of one file, and returns their names within the folder of tables.
func (f *fitSpectra) writeDESI(file, source, tables, models string, m *batch.Manifest, rows map[int]*survey.Row, order []int) (names []string, err error) {
	d, err := survey.OpenDESI(file)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	chosen, err := d.Select(f.selection())
	if err != nil {
		return nil, err
	}
	chosen.Rows = slices.DeleteFunc(chosen.Rows, func(row int) bool { return rows[row] == nil })
	if len(chosen.Rows) != len(order) {
		return nil, fmt.Errorf("%s: only %d of the %d fitted fibers are selected now: if the file has changed since the list was made, make a new list", file, len(chosen.Rows), len(order))
	}
	pipe, err := f.pipeline(m.Folder(), Env{})
	if err != nil {
		return nil, err
	}
	r := &survey.Results{Source: d, Chosen: chosen, NoCCF: f.Init == "bruteforce", More: f.Extra, Command: "euryale batch", Config: f.Config.File}
	if r.Libraries, err = pipe.Versions(chosen.Arms); err != nil {
		return nil, err
	}
	if !f.NoModels {
		if err := readModels(models, rows); err != nil {
			return nil, err
		}
	}
	for _, row := range chosen.Rows {
		if !f.NoModels && slices.ContainsFunc(rows[row].Arms, func(a survey.ArmFit) bool { return a.Spectrum == nil }) {
			return nil, fmt.Errorf("%s: the model of row %d was fitted but is not in %s: put the file back, or remove the results of its rows and run the list again", file, row, models)
		}
		r.Rows = append(r.Rows, *rows[row])
	}
	dir := filepath.Dir(imageFolder(source))
	if err := os.MkdirAll(filepath.Join(tables, dir), 0o777); err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".gz"), ".fz")
	if !f.NoModels {
		name := filepath.Join(dir, survey.ModelName(base))
		if err := r.WriteModels(filepath.Join(tables, name)); err != nil {
			return names, err
		}
		names = append(names, name)
	}
	name := filepath.Join(dir, survey.TableName(base))
	return append(names, name), r.WriteTable(filepath.Join(tables, name))
}
