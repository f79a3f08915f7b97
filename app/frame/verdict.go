// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"cmp"
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
	Line    string `json:"line"` // the verdict with the strongest finding and what to try first, as it is printed
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
	return &CheckDoc{OK: v.OK, Summary: v.Summary(), Line: v.Line(), P: Number(v.P), Reduced: Number(v.Reduced), Expected: [2]Number{Number(v.Expected[0]), Number(v.Expected[1])},
		Flags: flagDocs(v.Flags), Notes: flagDocs(v.Notes), Word: v.Word()}
}

func flagDocs(list []check.Flag) []flagDoc {
	out := []flagDoc{}
	for _, f := range list {
		out = append(out, flagDoc{f.Kind, f.Text, f.Where, f.Remedy, Number(f.P)})
	}
	return out
}

// StoredVerdict is what the document of a run folder says beside the summary of the draws.
type StoredVerdict struct {
	Check *CheckDoc         `json:"model_check"`
	Units map[string]string `json:"units"`
	// Diagnostics has what was wrong about the draws, a line for each check: its name, a colon, what was found and what to try.
	Diagnostics struct {
		Advice []string `json:"advice"`
	} `json:"diagnostics"`
}

// StoredCheck returns what the document of a run folder says; it is empty for
// other sources. If the folder of a run has no document, the verdict is an unfavourable one
// that says so. A document that is damaged or has no verdict is an error.
func StoredCheck(args []string) (doc StoredVerdict, _ error) {
	if len(args) != 1 {
		return doc, nil
	}
	dir := runs.Folder(args[0])
	if st, err := os.Stat(args[0]); err != nil || !st.IsDir() || !foreign.Exists(dir.Path(runs.MarkerFile)) && !foreign.Exists(dir.Path(runs.ConfigFile)) {
		return doc, nil
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
		return doc, nil
	case errors.Is(err, fs.ErrNotExist):
		nan := Number(math.NaN())
		text := fmt.Sprintf("The verdict about the model is not known, because %s is missing: %s.", name, remedy)
		if foreign.Exists(dir.Path(runs.LiveFolder)) {
			text = "The model is judged when the run has ended."
		}
		return StoredVerdict{Check: &CheckDoc{Summary: text, P: nan, Reduced: nan, Expected: [2]Number{nan, nan},
			Flags: []flagDoc{}, Notes: []flagDoc{}, Word: "unknown"}}, nil
	}
	return doc, &exit.Error{Code: exit.Data, Err: fmt.Errorf("the verdict about the model cannot be read: %w", err), Hint: remedy}
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

// Strictly returns an error for an unfavourable verdict about the model.
func Strictly(v check.Verdict) error {
	if v.OK {
		return nil
	}
	return exit.With(exit.Failed, fmt.Errorf("model check: %s", exit.Lowered(v.Summary())))
}

// PrintVerdict prints a verdict in one line, and with --verbose all its findings and notes. Warnings of the fit are printed with
// --verbose, and where the model is right, since the line then does not say what is wrong. Notes of the command, which say what its
// numbers mean, are always printed.
func (a *App) PrintVerdict(d *CheckDoc, warnings, notes []string) error {
	_, err := fmt.Fprintln(a.Stdout, strings.Join(d.lines(a.Verbose, warnings, notes), "\n"))
	return exit.With(exit.CannotWrite, err)
}

// lines are the lines of PrintVerdict.
func (d *CheckDoc) lines(verbose bool, warnings, notes []string) []string {
	line := cmp.Or(d.Line, d.Summary)
	switch bare := len(d.Flags) == 0 || len(d.Flags) == 1 && strings.Contains(d.Line, d.Flags[0].Text); {
	case verbose:
	case !bare || !d.OK && len(warnings) > 0:
		line += " Details: --verbose."
	case len(d.Notes) > 0:
		line += " Notes: --verbose."
	}
	out := []string{line}
	if verbose {
		for _, f := range d.Flags {
			out = append(out, "- "+check.Flag{Text: f.Text, Remedy: f.Remedy}.String())
		}
	}
	if verbose || d.OK {
		for _, w := range warnings {
			out = append(out, "warning: "+w)
		}
	}
	for _, n := range notes {
		out = append(out, "note: "+n)
	}
	if verbose {
		for _, n := range d.Notes {
			out = append(out, "note: "+n.Text)
		}
	}
	return out
}
