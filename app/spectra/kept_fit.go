// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/report"
)

// keptOfDESI adds the fit of a fiber that tables keep, if there is one.
func (f *plotFlags) keptOfDESI(m *measuredStar, d *survey.DESI, row int) error {
	table, err := f.tableOf(d.Name)
	if err != nil || table == "" {
		return err
	}
	models := filepath.Join(filepath.Dir(table), strings.Replace(filepath.Base(table), "rvtab", "rvmod", 1))
	if models == table || !foreign.Exists(models) {
		models = ""
	}
	kept, err := survey.ReadKept(table, models, d.TargetID[row], d.Exposure(row))
	switch {
	case err != nil:
		return exit.Input(err)
	case kept == nil && f.Fit != "":
		return exit.With(exit.Data, fmt.Errorf("%s has no row of target %d: fit it, or leave --fit out", table, d.TargetID[row]))
	case kept == nil:
		m.say("%s does not have this target.", filepath.Base(table))
		return nil
	}
	for i := range m.arms {
		a := &m.arms[i]
		v := kept.Models[a.Name]
		if v != nil && len(v) != len(a.Wave) {
			return exit.With(exit.Data, fmt.Errorf("%s: the model of arm %s has %d pixels, and the spectrum %d: it is a fit of another file", models, a.Name, len(v), len(a.Wave)))
		}
		a.Model = v
	}
	m.say("%s", keptText(filepath.Base(table), kept))
	if len(kept.Models) == 0 {
		m.say("The file of models (rvmod) that belongs to it is not there or does not have this star.")
	}
	return nil
}

// tableOf finds the table of a fit of a file of DESI: that of --fit, or one beside the file; "" if none is asked for and none is there.
func (f *plotFlags) tableOf(name string) (string, error) {
	base := survey.TableName(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".fz"))
	if f.Fit == "" {
		if table := filepath.Join(filepath.Dir(name), base); foreign.Exists(table) {
			return table, nil
		}
		return "", nil
	}
	info, err := os.Stat(f.Fit)
	switch {
	case err != nil:
		return "", exit.Input(err)
	case !info.IsDir():
		return filepath.Join(filepath.Dir(f.Fit), strings.Replace(filepath.Base(f.Fit), "rvmod", "rvtab", 1)), nil
	case foreign.Exists(filepath.Join(f.Fit, base)):
		return filepath.Join(f.Fit, base), nil
	}
	found, _ := filepath.Glob(filepath.Join(f.Fit, "*", "*", base)) // as fit spectra divides its results into folders
	if len(found) != 1 {
		return "", exit.With(exit.NoInput, fmt.Errorf("--fit %s: %s called %s in the folder and in those that fit spectra makes below it: name the table itself", f.Fit, map[bool]string{true: "there is no file", false: "there are " + errtext.Count(len(found), "file")}[len(found) == 0], base))
	}
	return found[0], nil
}

// keptText says what a table has of a star.
func keptText(table string, k *survey.Kept) string {
	if _, ok := k.Numbers["VRAD"]; !ok || math.IsNaN(k.Numbers["VRAD"]) {
		return fmt.Sprintf("%s has no fit of this star: %s.", table, strings.Join(survey.WarningTexts(k.Warnings), "; "))
	}
	var list []string
	for _, c := range []struct{ name, column, unit string }{{"velocity", "VRAD", " km/s"}, {"teff", "TEFF", " K"}, {"logg", "LOGG", ""}, {"[Fe/H]", "FEH", ""}, {"[alpha/Fe]", "ALPHAFE", ""}, {"vsini", "VSINI", " km/s"}} {
		if v, ok := k.Numbers[c.column]; ok && !math.IsNaN(v) {
			sd := math.NaN()
			if e, ok := k.Numbers[c.column+"_ERR"]; ok {
				sd = e
			}
			list = append(list, c.name+" "+plusMinus(v, sd)+c.unit)
		}
	}
	text := fmt.Sprintf("Fit in %s: %s.", table, strings.Join(list, ", "))
	if k.Judged {
		text += map[bool]string{true: " The model agrees with the data.", false: " The model does not agree with the data, or could not be judged."}[k.Agrees]
	}
	if k.Warnings != 0 {
		text += fmt.Sprintf(" Warnings (RVS_WARN %d): %s.", k.Warnings, strings.Join(survey.WarningTexts(k.Warnings), "; "))
	}
	return text
}

func plusMinus(v, sd float64) string { return strings.Replace(report.PlusMinus(v, sd), "+-", "±", 1) }

// keptOfOthers says what a document fit.json has of a star, and adds the models that stand beside it.
func (f *plotFlags) keptOfOthers(m *measuredStar, names, called []string) error {
	name := f.Fit
	switch info, err := os.Stat(f.Fit); {
	case f.Fit == "":
		if name = filepath.Join(filepath.Dir(names[0]), "fit.json"); !foreign.Exists(name) {
			return nil
		}
	case err != nil:
		return exit.Input(err)
	case info.IsDir():
		name = filepath.Join(f.Fit, "fit.json")
	}
	b, err := foreign.ReadFile(name)
	if err != nil {
		return exit.Input(err)
	}
	var doc spectraDoc
	if err := json.Unmarshal(b, &doc); err != nil || doc.Engine != "spectra" {
		if f.Fit == "" {
			return nil // it is of another command
		}
		return exit.With(exit.Data, fmt.Errorf("%s is no result of fit spectra: name the folder that its --out made", name))
	}
	at := slices.IndexFunc(doc.Stars, func(d starDoc) bool { return slices.Contains(d.parts(), called[0]) })
	switch {
	case at >= 0:
		modelled := false
		for i, file := range called {
			k := slices.Index(doc.Stars[at].parts(), file)
			if k < 0 {
				continue
			}
			ok, err := addModel(&m.arms[i], filepath.Join(filepath.Dir(name), modelsFile), at, k)
			if err != nil {
				return err
			}
			modelled = modelled || ok
		}
		m.say("%s", doc.Stars[at].text(filepath.Base(name)))
		if !modelled {
			m.say("It keeps no model: --library draws one.")
		}
	case f.Fit != "":
		return exit.With(exit.Data, fmt.Errorf("%s has no fit of %s: it has those of %s", name, called[0], errtext.Named(column(doc.Stars, func(d *starDoc) string { return d.Name }))))
	}
	return nil
}

// parts are the names of the files of the star.
func (d *starDoc) parts() []string {
	parts := strings.Split(d.Name, " + ")
	for i := range parts {
		parts[i] = filepath.Base(parts[i])
	}
	return parts
}

// text says what a document has of a star.
func (d *starDoc) text(file string) string {
	if d.Status == "failed" {
		return fmt.Sprintf("%s: the fit failed: %s.", file, foreign.Line(d.Message))
	}
	var list []string
	for _, name := range parametersOf([]starDoc{*d}) {
		list = append(list, strings.TrimSpace(name+" "+plusMinus(of(d.X, name), of(d.SD, name))+" "+spectra.Unit(name)))
	}
	text := fmt.Sprintf("Fit in %s: %s.", file, strings.Join(list, ", "))
	if d.Check != nil {
		text += " " + d.Check.Line
	}
	return text
}
