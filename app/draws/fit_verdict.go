// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// fitJudged is what the document of a fit says about one set of data.
type fitJudged struct {
	Of       string          `json:"of"` // such as "bin 3" or the name of a star; "" where there is one only
	Status   string          `json:"status,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
	Check    *frame.CheckDoc `json:"model_check"`
}

// fitsJudged is the JSON document of diagnose for a fit.
type fitsJudged struct {
	Fits []fitJudged `json:"fits"`
}

// heldFit returns the document of the fit in a folder that holds no draws and will hold none, or "".
func heldFit(args []string) string {
	if len(args) != 1 {
		return ""
	}
	dir := runs.Folder(args[0])
	if command, err := dir.Command(); err == nil && strings.HasPrefix(command, "sample") {
		return ""
	}
	drawn := slices.ContainsFunc([]string{runs.DrawsFolder, "chain-1.csv", runs.CheckpointFile, runs.LiveFolder}, func(name string) bool { return foreign.Exists(dir.Path(name)) })
	if name := dir.Path("fit.json"); !drawn && foreign.Exists(name) {
		return name
	}
	return ""
}

// judgedIn reads what the document of a fit says: it has one verdict, or a list of bins or stars with one each.
func judgedIn(name string) (all []fitJudged, err error) {
	b, err := foreign.ReadFile(name)
	if err != nil {
		return nil, exit.Input(err)
	}
	type part struct {
		fitJudged
		Bin  *int   `json:"bin"`
		Name string `json:"name"`
	}
	var doc struct {
		part
		Bins  []part `json:"bins"`
		Stars []part `json:"stars"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, exit.InFile(name, err)
	}
	for _, p := range append(doc.Bins, doc.Stars...) {
		if p.Of = p.Name; p.Bin != nil {
			p.Of = fmt.Sprintf("bin %d", *p.Bin)
		}
		all = append(all, p.fitJudged)
	}
	if all == nil {
		doc.Of = ""
		all = append(all, doc.fitJudged)
	}
	return all, nil
}

// good reports whether a fit converged to a model that agrees with its data.
func (f fitJudged) good() bool {
	return f.Check != nil && f.Check.OK && (f.Status == "" || f.Status == "converged")
}

// line says what a fit found, in a line for each thing.
func (f fitJudged) line() string {
	said := "The model was not judged."
	if f.Check != nil {
		said = f.Check.Line
	}
	if f.Status != "" && f.Status != "converged" {
		said = "The fit did not converge (" + f.Status + "). " + said
	}
	if f.Of != "" {
		said = f.Of + ": " + said
	}
	return strings.Join(append([]string{said}, f.Warnings...), "\n  warning: ")
}

// judgeFit prints the verdicts of a fit. Of many it counts those that are good.
func judgeFit(a *frame.App, name string) error {
	all, err := judgedIn(name)
	if err != nil {
		return err
	}
	bad := 0
	var text strings.Builder
	for _, f := range all {
		if !f.good() {
			bad++
		} else if len(all) > 1 && f.Warnings == nil && !a.Verbose {
			continue // the count says it
		}
		fmt.Fprintln(&text, f.line())
	}
	switch {
	case a.JSON:
		err = a.Document(fitsJudged{all})
	default:
		if len(all) > 1 {
			_, err = fmt.Fprintf(a.Stdout, "%d of %d fits converged to models that agree with their data.\n", len(all)-bad, len(all))
		}
		if err == nil {
			_, err = fmt.Fprint(a.Stdout, text.String())
		}
	}
	switch {
	case err != nil:
		return exit.With(exit.CannotWrite, err)
	case a.Strict && bad > 0:
		return exit.With(exit.Failed, fmt.Errorf("%d of %d fits did not converge to a model that agrees with its data", bad, len(all)))
	}
	return nil
}
