package main

import (
	"encoding/json"
	"fmt"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// checkDoc is the verdict about the model in the JSON contract.
type checkDoc struct {
	OK       bool      `json:"ok"`
	Summary  string    `json:"summary"`
	P        number    `json:"p"`            // smallest p-value of all tests together; NaN where nothing could be tested
	Reduced  number    `json:"chi2_reduced"` // NaN where the errors are not known
	Expected [2]number `json:"expected"`     // central 99 % of chi2_reduced for a right model
	Flags    []flagDoc `json:"flags"`
	Notes    []flagDoc `json:"notes"`
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
		Flags: flagDocs(v.Flags), Notes: flagDocs(v.Notes)}
}

func flagDocs(list []check.Flag) []flagDoc {
	out := []flagDoc{}
	for _, f := range list {
		out = append(out, flagDoc{f.Kind, f.Text, f.Where, f.Remedy, number(f.P)})
	}
	return out
}

// storedCheck is the verdict that a run folder keeps in its document; nil for other
// draws and for runs without one.
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

// lines is the verdict as text.
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

// strictly fails on a verdict about the model that is not good.
func strictly(v check.Verdict) error {
	if v.OK {
		return nil
	}
	return as(exitFailed, fmt.Errorf("model check: %s", v.Summary()))
}

// printVerdict prints what was found, a line each.
func (a *app) printVerdict(v check.Verdict) error {
	for _, f := range v.Flags {
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
