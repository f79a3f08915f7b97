// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// CheckDoc is the verdict about the model in JSON documents.
type CheckDoc struct {
	OK      bool   `json:"ok"`
	Summary string `json:"summary"`
	// Smallest p-value of all tests combined; NaN if nothing could be tested.
	P        Number    `json:"p"`
	Reduced  Number    `json:"chi2_reduced"` // reduced chi-square; NaN if the errors are not known
	Expected [2]Number `json:"expected"`     // central 99 % interval of chi2_reduced for a correct model
	Flags    []flagDoc `json:"flags"`
	Notes    []flagDoc `json:"notes"`
	Word     string    `json:"word"` // the verdict in one word: agrees, misfit, undetermined, not judged, or unknown where its document is missing
}

type flagDoc struct {
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Where  string `json:"where"`
	Remedy string `json:"remedy,omitempty"`
	P      Number `json:"p"`
}

// CheckDocument returns a verdict as JSON documents hold it.
func CheckDocument(v check.Verdict) *CheckDoc {
	return &CheckDoc{OK: v.OK, Summary: v.Summary(), P: Number(v.P), Reduced: Number(v.Reduced), Expected: [2]Number{Number(v.Expected[0]), Number(v.Expected[1])},
		Flags: flagDocs(v.Flags), Notes: flagDocs(v.Notes), Word: v.Word()}
}

func flagDocs(list []check.Flag) []flagDoc {
	out := []flagDoc{}
	for _, f := range list {
		out = append(out, flagDoc{f.Kind, f.Text, f.Where, f.Remedy, Number(f.P)})
	}
	return out
}

// StoredCheck returns the verdict stored in the document of a run folder; it is nil for
// other sources. If the folder of a run has no document, the verdict is an unfavourable one
// that says so. A document that is damaged or has no verdict is an error.
func StoredCheck(args []string) (*CheckDoc, error) {
	if len(args) != 1 {
		return nil, nil
	}
	dir := runs.Folder(args[0])
	if st, err := os.Stat(args[0]); err != nil || !st.IsDir() || !foreign.Exists(dir.Path(runs.MarkerFile)) && !foreign.Exists(dir.Path(runs.ConfigFile)) {
		return nil, nil
	}
	var doc struct {
		Check *CheckDoc `json:"model_check"`
	}
	name := dir.Path("summary.json")
	err := runs.ReadJSON(name, &doc)
	if err == nil && doc.Check == nil {
		err = fmt.Errorf("%s holds no verdict about the model", name)
	}
	remedy := "restore " + foreign.Typed(name) + ", or make the run again"
	if command, e := dir.Command(); e == nil && command != "" {
		remedy = fmt.Sprintf("restore %s, or write it again with %s", foreign.Typed(name), ResumeLine(command, dir))
	}
	switch {
	case err == nil:
		return doc.Check, nil
	case errors.Is(err, fs.ErrNotExist):
		nan := Number(math.NaN())
		return &CheckDoc{Summary: fmt.Sprintf("The verdict about the model is not known, because %s is missing: %s.", name, remedy), P: nan, Reduced: nan, Expected: [2]Number{nan, nan},
			Flags: []flagDoc{}, Notes: []flagDoc{}, Word: "unknown"}, nil
	}
	return nil, &exit.Error{Code: exit.Data, Err: fmt.Errorf("the verdict about the model cannot be read: %w", err), Hint: remedy}
}

// Verdict is the verdict in one word; it is "not judged" where there is none.
func (d *CheckDoc) Verdict() string {
	if d == nil {
		return "not judged"
	}
	return d.Word
}

// Told joins warnings and the flags of the verdict, as a cell of a table holds them.
func (d *CheckDoc) Told(warnings []string) string {
	all := slices.Clone(warnings)
	if d != nil {
		for _, f := range d.Flags {
			all = append(all, f.Text)
		}
	}
	return strings.Join(all, "; ")
}

// BoundWord says in one word which bound a parameter lies on, by the sign of active; it is "" for none.
func BoundWord(active int) string {
	return [...]string{"lower", "", "upper"}[1+min(max(active, -1), 1)]
}

// Lines formats the verdict as text.
func (d *CheckDoc) Lines() string {
	text := d.Summary
	for _, f := range d.Flags {
		text += "\nmodel: " + check.Flag{Text: f.Text, Remedy: f.Remedy}.String()
	}
	for _, f := range d.Notes {
		text += "\nnote: " + f.Text
	}
	return text
}

// Strictly returns an error for an unfavourable verdict about the model.
func Strictly(v check.Verdict) error {
	if v.OK {
		return nil
	}
	return exit.With(exit.Failed, fmt.Errorf("model check: %s", exit.Lowered(v.Summary())))
}

// PrintVerdict prints the findings, one per line.
func (a *App) PrintVerdict(v check.Verdict) error {
	for _, f := range v.Listed() {
		if _, err := fmt.Fprintf(a.Stdout, "model: %s\n", f); err != nil {
			return exit.With(exit.CannotWrite, err)
		}
	}
	for _, f := range v.Notes {
		if _, err := fmt.Fprintf(a.Stdout, "note: %s\n", f.Text); err != nil {
			return exit.With(exit.CannotWrite, err)
		}
	}
	return nil
}
