// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// checkDoc is the verdict about the model in JSON documents.
type checkDoc struct {
	OK      bool   `json:"ok"`
	Summary string `json:"summary"`
	// Smallest p-value of all tests combined; NaN if nothing could be tested.
	P        number    `json:"p"`
	Reduced  number    `json:"chi2_reduced"` // reduced chi-square; NaN if the errors are not known
	Expected [2]number `json:"expected"`     // central 99 % interval of chi2_reduced for a correct model
	Flags    []flagDoc `json:"flags"`
	Notes    []flagDoc `json:"notes"`
	word     string
}

type flagDoc struct {
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Where  string `json:"where"`
	Remedy string `json:"remedy,omitempty"`
	P      number `json:"p"`
}

func checkDocument(v check.Verdict) *checkDoc {
	return &checkDoc{OK: v.OK, Summary: v.Summary(), P: number(v.P), Reduced: number(v.Reduced), Expected: [2]number{number(v.Expected[0]), number(v.Expected[1])},
		Flags: flagDocs(v.Flags), Notes: flagDocs(v.Notes), word: v.Word()}
}

func flagDocs(list []check.Flag) []flagDoc {
	out := []flagDoc{}
	for _, f := range list {
		out = append(out, flagDoc{f.Kind, f.Text, f.Where, f.Remedy, number(f.P)})
	}
	return out
}

// storedCheck returns the verdict stored in the document of a run folder; it is nil for
// other sources and for runs without a verdict.
func storedCheck(args []string) *checkDoc {
	if len(args) != 1 {
		return nil
	}
	b, err := foreign.ReadFile(runs.Folder(args[0]).Path("summary.json"))
	var doc struct {
		Check *checkDoc `json:"model_check"`
	}
	if err != nil || json.Unmarshal(b, &doc) != nil {
		return nil
	}
	return doc.Check
}

// lines formats the verdict as text.
func (d *checkDoc) lines() string {
	text := d.Summary
	for _, f := range d.Flags {
		text += "\nmodel: " + check.Flag{Text: f.Text, Remedy: f.Remedy}.String()
	}
	for _, f := range d.Notes {
		text += "\nnote: " + f.Text
	}
	return text
}

// strictly returns an error for an unfavourable verdict about the model.
func strictly(v check.Verdict) error {
	if v.OK {
		return nil
	}
	return as(exitFailed, fmt.Errorf("model check: %s", lowered(v.Summary())))
}

// printVerdict prints the findings, one per line.
func (a *app) printVerdict(v check.Verdict) error {
	for _, f := range v.Listed() {
		if _, err := fmt.Fprintf(a.stdout, "model: %s\n", f); err != nil {
			return as(exitCannotWrite, err)
		}
	}
	for _, f := range v.Notes {
		if _, err := fmt.Fprintf(a.stdout, "note: %s\n", f.Text); err != nil {
			return as(exitCannotWrite, err)
		}
	}
	return nil
}
