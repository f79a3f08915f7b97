// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/data/fits"
)

// Results holds the fits of the fibers chosen from a DESI file, one Row per chosen fiber and in the
// same order.
type Results struct {
	Source *DESI
	Chosen *Chosen
	Rows   []Row
	// NoCCF means that fits did not start from a cross-correlation. The column VRAD_CCF is then left
	// out.
	NoCCF bool
	// More adds columns at the end that the reference does not have: VRAD_ERR_MARGINAL, VSINI_ERR and
	// MODEL_P. MODEL_OK and NPIX_SPIKES, which it does not have either, are there without it, MODEL_OK only if fits were judged.
	More      bool
	Libraries []LibraryVersion
	Software  [][2]string // names and versions of programs
	Command   string      // command line that made the table; not written if empty
	Config    string      // name of the file of settings; not written if empty
	New       bool        // WriteTable replaces no file
}

// LibraryVersion says which templates an arm was fitted with.
type LibraryVersion struct {
	Setup    string // name of the arm, such as desi_b
	Revision string
	Software string
}

// Row is the fit of one fiber.
type Row struct {
	// Fitted reports whether there were data that could be used.
	Fitted       bool
	VRad         float64
	VRadErr      float64
	VRadSkew     float64
	VRadKurt     float64 // kurtosis of the velocity; 3 for a normal distribution
	VRadMarginal float64 // standard deviation of the velocity in km/s, marginal over all other parameters
	VSini        float64 // projected rotational velocity in km/s
	VSiniErr     float64 // error of VSini in km/s
	LogG         float64
	LogGErr      float64
	Teff         float64 // effective temperature in K
	TeffErr      float64
	FeH          float64
	FeHErr       float64
	Alpha        float64
	AlphaErr     float64
	// Others holds the parameters of a library that has parameters other than LogG, Teff, FeH and
	// Alpha. They must be the same in all rows.
	Others []Parameter
	P      float64 // probability of residuals at least as bad as these if the model is right
	// Disagrees reports whether the verdict is that the model disagrees with the data.
	Disagrees bool
	// Judged reports whether there is a verdict, and Unexplained whether it found pixels or a second star that no template
	// explains.
	Judged, Unexplained bool
	// OtherVelocities reports whether other velocities fit almost as well.
	OtherVelocities bool
	LeftOut         int     // number of pixels that were left out as spikes
	VRadCCF         float64 // velocity from the cross-correlation in km/s
	Arms            []ArmFit
	BadHessian      bool
	WarningFlags    int64 // bits of RVS_WARN; see Warn
}

// Parameter is a parameter of a library with its value and standard deviation.
type Parameter struct {
	Name       string
	Value, Err float64
}

// ArmFit is the result of a fit for one arm, summed over exposures.
type ArmFit struct {
	Arm      string // name of the arm: b, r or z
	Chisq    float64
	ChisqC   float64 // chi-square of the continuum alone
	Pixels   int     // number of pixels that are not bad
	Spectrum []float32
}

// totals returns the sums over the arms.
func (r *Row) totals() (chisq, continuum float64, pixels int) {
	for _, a := range r.Arms {
		chisq += a.Chisq
		continuum += a.ChisqC
		pixels += a.Pixels
	}
	return chisq, continuum, pixels
}

func (r *Row) arm(name string) *ArmFit {
	for i := range r.Arms {
		if r.Arms[i].Arm == name {
			return &r.Arms[i]
		}
	}
	return nil
}

// copied are the keywords of the spectra that the models keep.
var copied = []string{"SPGRP", "SPGRPVAL", "TILEID", "SPECTRO", "PETAL", "NIGHT", "EXPID", "HPXPIXEL", "HPXNSIDE", "HPXNEST"}

// header returns the cards of the primary HDU.
func (r *Results) header(models bool) *fits.Header {
	h := &fits.Header{}
	text := func(key, value, comment string) { h.Set(key, escaped(value), escaped(comment)) }
	for i, s := range r.Software {
		text(fmt.Sprintf("DEPNAM%02d", i), s[0], "Software")
		text(fmt.Sprintf("DEPVER%02d", i), s[1], "Version")
	}
	for i, l := range r.Libraries {
		text(fmt.Sprintf("TMPLCON%d", i), l.Setup, "Spec arm config name")
		text(fmt.Sprintf("TMPLREV%d", i), l.Revision, "Spec template revision")
		text(fmt.Sprintf("TMPLSVR%d", i), l.Software, "Spec template soft version")
	}
	if r.Config != "" {
		text("RVS_CONF", r.Config, "")
	}
	if r.Command != "" {
		text("RVS_CMD", r.Command, "")
	}
	text("RR_FILE", r.Chosen.RedshiftFile, "Redrock redshift file")
	if !models {
		return h
	}
	for _, key := range copied {
		c, ok := r.Source.Header().Get(key)
		if s, is := c.Value.(string); is {
			text(key, s, c.Comment)
		} else if ok {
			h.Set(key, c.Value, escaped(c.Comment))
		}
	}
	return h
}

// OtherCommand returns the command line that made a table of results if it is another one than command, and "" if it is the same or the table
// does not say.
func OtherCommand(table, command string) string {
	f, err := fits.Open(table)
	if err != nil {
		return ""
	}
	defer f.Close()
	if made := f.HDUs()[0].Header.Text("RVS_CMD"); made != escaped(command) {
		return made
	}
	return ""
}

// escaped writes the characters that FITS headers cannot hold, as names of files may have them, as Go and
// JSON do: é is \u00e9.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= ' ' && r <= '~':
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, "\\U%08x", r)
		default:
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

// legible replaces the bytes that FITS tables cannot hold, as a damaged file has them, by question marks.
func legible(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' || c > '~' {
			b[i] = '?'
		}
	}
	return string(b)
}

func (r *Results) check() error {
	if len(r.Rows) != len(r.Chosen.Rows) {
		return bad(r.Source.Name, "", "%d fibers were chosen, but there are %d fits: want one for each fiber", len(r.Chosen.Rows), len(r.Rows))
	}
	for i := range r.Rows {
		if have, want := len(r.Rows[i].Others), len(r.others()); r.Rows[i].Fitted && have != want {
			return bad(r.Source.Name, "", "fit %d, counted from 0, has %d parameters in Others, but other fits have %d: want the same parameters in all rows", i, have, want)
		}
		for _, a := range r.Rows[i].Arms {
			if n := len(r.Source.Wave(a.Arm)); a.Spectrum != nil && len(a.Spectrum) != n || n == 0 {
				return bad(r.Source.Name, a.Arm, "the model of fit %d, counted from 0, has %d pixels: want %d", i, len(a.Spectrum), n)
			}
		}
	}
	return nil
}

// comments are those of the columns, in TCOMMn.
var comments = map[string]string{"VRAD": "Radial velocity", "VRAD_ERR": "Radial velocity error", "VRAD_SKEW": "Radial velocity posterior skewness", "VRAD_KURT": "Radial velocity posterior kurtosis",
	"VSINI": "Stellar rotation velocity", "LOGG": "Log of surface gravity", "TEFF": "Effective temperature", "FEH": "[Fe/H] from template fitting", "ALPHAFE": "[alpha/Fe] from template fitting",
	"LOGG_ERR": "Log of surface gravity uncertainty", "TEFF_ERR": "Effective temperature uncertainty", "FEH_ERR": "[Fe/H] uncertainty from template fitting", "ALPHAFE_ERR": "[alpha/Fe] uncertainty from template fitting",
	"CHISQ_TOT": "Total chi-square for all arms", "NPIX_TOT": "Total number of unmasked pixels fitted", "CHISQ_C_TOT": "Total chi-square for all arms for polynomial only fit",
	"VRAD_CCF": "Initial velocity from cross-correlation", "TARGETID": "DESI targetid", "EXPID": "DESI exposure id", "SUCCESS": "Did we succeed or fail", "RVS_WARN": "RVSpecFit warning flag",
	"RR_Z": "Redrock redshift", "RR_SPECTYPE": "Redrock spectype", "RR_SUBTYPE": "Redrock spectroscopic subtype",
	"VRAD_ERR_MARGINAL": "Radial velocity error, other parameters free", "VSINI_ERR": "Stellar rotation velocity error", "MODEL_P": "Least adjusted p-value of the fit", "MODEL_OK": "Does the model agree with the data", "NPIX_SPIKES": "Number of pixels left out as spikes"}

// TableName returns the name of the table for the spectra of a file. As in rvspecfit, it is the name of
// the file with rvtab_ before it.
func TableName(spectra string) string { return "rvtab_" + filepath.Base(spectra) }

// ModelName returns the name of the file of models for the spectra of a file: the name of the file with
// rvmod_ before it.
func ModelName(spectra string) string { return "rvmod_" + filepath.Base(spectra) }

// WriteTable writes the rvtab_ file: RVTAB and the chosen rows of FIBERMAP, SCORES and EXP_FIBERMAP.
// Unknown values are masked. If nothing was chosen, RVTAB has no columns. With New, an
// existing file is an error that wraps fs.ErrExist.
func (r *Results) WriteTable(name string) error {
	if err := r.check(); err != nil {
		return err
	}
	columns, err := r.columns()
	if err != nil {
		return err
	}
	w, err := fits.Create(name)
	if err != nil {
		return err
	}
	defer w.Discard()
	w.New = r.New
	w.Primary(r.header(false))
	h := &fits.Header{}
	for i, c := range columns {
		text := comments[c.Name]
		if arm, ok := strings.CutPrefix(c.Name, "SN_"); ok {
			text = fmt.Sprintf("Median S/N in the %s arm", arm)
		} else if arm, ok := strings.CutPrefix(c.Name, "CHISQ_C_"); ok && text == "" {
			text = fmt.Sprintf("Chi-square in the %s arm after fitting continuum only", arm)
		} else if arm, ok := strings.CutPrefix(c.Name, "CHISQ_"); ok && text == "" {
			text = fmt.Sprintf("Chi-square in the %s arm", arm)
		}
		h.Set(fmt.Sprintf("TCOMM%d", i+1), text, "")
	}
	w.Table("RVTAB", h, columns)
	r.copyRows(w, true)
	return w.Close()
}

// copyRows writes the chosen rows of FIBERMAP and, with all, those of SCORES and EXP_FIBERMAP.
func (r *Results) copyRows(w *fits.Writer, all bool) {
	d := r.Source
	w.CopyRows(d.Fibermap, r.Chosen.Rows, nil)
	if !all {
		return
	}
	if d.Scores != nil {
		w.CopyRows(d.Scores, r.Chosen.Rows, nil)
	}
	if d.ExpMap == nil {
		return
	}
	wanted := map[int64]bool{}
	for _, row := range r.Chosen.Rows {
		wanted[d.TargetID[row]] = true
	}
	var rows []int
	if c, err := d.ExpMap.Column("TARGETID"); err == nil {
		ids, _ := c.Int64s()
		for i, id := range ids {
			if wanted[id] {
				rows = append(rows, i)
			}
		}
	}
	w.CopyRows(d.ExpMap, rows, nil)
}

// WriteModels writes the rvmod_ file: the wavelengths and models of each arm, with one row of models
// per row of the table and 0 where nothing was fitted.
func (r *Results) WriteModels(name string) error {
	if err := r.check(); err != nil {
		return err
	}
	w, err := fits.Create(name)
	if err != nil {
		return err
	}
	defer w.Discard()
	w.Primary(r.header(true))
	for _, arm := range r.Chosen.Arms {
		wave := r.Source.Wave(arm)
		w.Image(strings.ToUpper(arm)+"_WAVELENGTH", nil, []int{len(wave)}, wave)
		if len(r.Rows) == 0 {
			w.Image(strings.ToUpper(arm)+"_MODEL", nil, nil, nil)
			continue
		}
		s := w.Stream(strings.ToUpper(arm)+"_MODEL", nil, []int{len(r.Rows), len(wave)})
		none := make([]float32, len(wave))
		for i := range r.Rows {
			if a := r.Rows[i].arm(arm); a != nil && a.Spectrum != nil {
				s.Write(a.Spectrum)
			} else {
				s.Write(none)
			}
		}
		s.Close()
	}
	r.copyRows(w, false)
	return w.Close()
}

// columns returns those of RVTAB, in their order.
func (r *Results) columns() ([]fits.Data, error) {
	n := len(r.Rows)
	if n == 0 {
		return nil, nil
	}
	var out []fits.Data
	number := func(name, unit string, of func(row *Row) float64) {
		v := make([]float64, n)
		for i := range r.Rows {
			v[i] = math.NaN()
			if r.Rows[i].Fitted {
				v[i] = of(&r.Rows[i])
			}
		}
		out = append(out, fits.Data{Name: name, Unit: unit, Values: v})
	}
	const kms = "km s-1"
	number("VRAD", kms, func(r *Row) float64 { return r.VRad })
	number("VRAD_ERR", kms, func(r *Row) float64 { return r.VRadErr })
	number("VRAD_SKEW", "", func(r *Row) float64 { return r.VRadSkew })
	number("VRAD_KURT", "", func(r *Row) float64 { return r.VRadKurt })
	number("VSINI", kms, func(r *Row) float64 { return r.VSini })
	number("LOGG", "", func(r *Row) float64 { return r.LogG })
	number("LOGG_ERR", "", func(r *Row) float64 { return r.LogGErr })
	number("TEFF", "K", func(r *Row) float64 { return r.Teff })
	number("TEFF_ERR", "K", func(r *Row) float64 { return r.TeffErr })
	number("FEH", "", func(r *Row) float64 { return r.FeH })
	number("FEH_ERR", "", func(r *Row) float64 { return r.FeHErr })
	number("ALPHAFE", "", func(r *Row) float64 { return r.Alpha })
	number("ALPHAFE_ERR", "", func(r *Row) float64 { return r.AlphaErr })
	for i := range r.others() {
		name := strings.ToUpper(r.others()[i].Name)
		number(name, "", func(r *Row) float64 { return r.Others[i].Value })
		number(name+"_ERR", "", func(r *Row) float64 { return r.Others[i].Err })
	}
	number("CHISQ_TOT", "", func(r *Row) float64 { v, _, _ := r.totals(); return v })
	number("CHISQ_C_TOT", "", func(r *Row) float64 { _, v, _ := r.totals(); return v })
	pixels, unknown, warn, success := make([]int64, n), make([]bool, n), make([]int64, n), make([]bool, n)
	for i := range r.Rows {
		_, _, p := r.Rows[i].totals()
		pixels[i], unknown[i], warn[i] = int64(p), !r.Rows[i].Fitted, r.Rows[i].WarningFlags
		if !r.Rows[i].Fitted {
			warn[i] |= WarnSpectrum
		}
		success[i] = warn[i]&^WarnSpikes == 0
	}
	out = append(out, fits.Data{Name: "NPIX_TOT", Values: pixels, Mask: unknown})
	for _, arm := range r.Chosen.Arms {
		for _, kind := range []string{"CHISQ_", "CHISQ_C_"} {
			number(kind+strings.ToUpper(arm), "", func(r *Row) float64 {
				a := r.arm(arm)
				switch {
				case a == nil:
					return math.NaN()
				case kind == "CHISQ_":
					return a.Chisq
				}
				return a.ChisqC
			})
		}
	}
	if !r.NoCCF {
		number("VRAD_CCF", kms, func(r *Row) float64 { return r.VRadCCF })
	}
	out = append(out, fits.Data{Name: "RVS_WARN", Values: warn})
	for _, key := range []string{"FIBER", "REF_ID", "REF_CAT", "TARGET_RA", "TARGET_DEC", "TARGETID", "EXPID"} {
		if !r.Source.Fibermap.Has(key) {
			continue
		}
		c, err := take(r.Source, key, r.Chosen.Rows)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	for _, arm := range r.Chosen.Arms {
		sn := make([]float32, n)
		for i, row := range r.Chosen.Rows {
			sn[i] = float32(r.Chosen.SN[arm][row])
		}
		out = append(out, fits.Data{Name: "SN_" + strings.ToUpper(arm), Values: sn})
	}
	z, spec, sub := make([]float64, n), make([]string, n), make([]string, n)
	for i, row := range r.Chosen.Rows {
		z[i], spec[i], sub[i] = r.Chosen.Z[row], legible(r.Chosen.SpecType[row]), legible(r.Chosen.SubType[row])
	}
	out = append(out, fits.Data{Name: "SUCCESS", Values: success}, fits.Data{Name: "RR_Z", Values: z}, fits.Data{Name: "RR_SPECTYPE", Values: spec}, fits.Data{Name: "RR_SUBTYPE", Values: sub})
	if r.More {
		number("VRAD_ERR_MARGINAL", kms, func(r *Row) float64 { return r.VRadMarginal })
		number("VSINI_ERR", kms, func(r *Row) float64 { return r.VSiniErr })
		number("MODEL_P", "", func(r *Row) float64 { return r.P })
	}
	agrees, judged, spikes := make([]bool, n), false, make([]int64, n)
	for i := range r.Rows {
		row := &r.Rows[i]
		agrees[i], spikes[i] = row.Fitted && row.Judged && !row.Disagrees, int64(row.LeftOut)
		judged = judged || row.Judged
	}
	out = append(out, fits.Data{Name: "NPIX_SPIKES", Values: spikes})
	if judged {
		out = append(out, fits.Data{Name: "MODEL_OK", Values: agrees})
	}
	return out, nil
}

// others returns the parameters that the library has besides those with columns of their own.
func (r *Results) others() []Parameter {
	for i := range r.Rows {
		if r.Rows[i].Fitted {
			return r.Rows[i].Others
		}
	}
	return nil
}

// take returns some rows of a column of FIBERMAP, with its type and unit.
func take(d *DESI, key string, rows []int) (fits.Data, error) {
	c, err := d.Fibermap.Column(key)
	if err != nil {
		return fits.Data{}, err
	}
	out := fits.Data{Name: key, Unit: c.Unit}
	if c.Repeat != 1 {
		return out, bad(d.Name, key, "the column has %d elements in each row: want 1", c.Repeat)
	}
	if c.Type() == "string" {
		v, err := c.Strings()
		if err != nil {
			return out, err
		}
		part := make([]string, len(rows))
		for i, row := range rows {
			part[i] = legible(v[row])
		}
		out.Values, out.Width = part, c.Width()
		return out, nil
	}
	if c.Type() == "float32" || c.Type() == "float64" {
		v, err := c.Float64s()
		if err != nil {
			return out, err
		}
		wide, narrow := make([]float64, len(rows)), make([]float32, len(rows))
		for i, row := range rows {
			wide[i], narrow[i] = v[row], float32(v[row])
		}
		if out.Values = wide; c.Type() == "float32" {
			out.Values = narrow
		}
		return out, nil
	}
	v, err := c.Int64s()
	if err != nil {
		return out, err
	}
	mask, err := c.Masked()
	if err != nil {
		return out, err
	}
	wide, narrow, unknown := make([]int64, len(rows)), make([]int32, len(rows)), make([]bool, len(rows))
	fits32 := c.Type() != "int64"
	for i, row := range rows {
		wide[i], narrow[i], unknown[i] = v[row], int32(v[row]), mask[row]
		fits32 = fits32 && int64(narrow[i]) == v[row]
	}
	if out.Values = wide; fits32 {
		out.Values = narrow
	}
	for _, u := range unknown {
		if u {
			out.Mask = unknown
		}
	}
	return out, nil
}
