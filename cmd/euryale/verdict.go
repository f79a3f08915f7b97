package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz"
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

// residualPanel draws the residuals of a verdict along its first axis.
func residualPanel(v check.Verdict, title string) (*viz.Figure, error) {
	return viz.Fit(residualCurve(v, title))
}

// residualCurve holds residuals in standard deviations with a band of two.
func residualCurve(v check.Verdict, title string) viz.Curve {
	c := viz.Curve{Title: title, XLabel: "point", YLabel: "residual (standard deviations)", BandName: "2 standard deviations"}
	axis := check.Axis{}
	if len(v.Axes) > 0 {
		axis = v.Axes[0]
		c.XLabel = axis.Name
		if axis.Unit != "" {
			c.XLabel += " (" + axis.Unit + ")"
		}
	}
	order := make([]int, len(v.Residuals))
	for i := range order {
		order[i] = i
	}
	at := func(i int) float64 {
		if axis.Values == nil {
			return float64(i + 1)
		}
		return axis.Values[i]
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(at(i), at(j)) })
	for _, i := range order {
		c.X, c.Y = append(c.X, at(i)), append(c.Y, v.Residuals[i])
		c.LineX, c.Line = append(c.LineX, at(i)), append(c.Line, 0)
		c.Low, c.High = append(c.Low, -2), append(c.High, 2)
	}
	if n := len(c.X); n > 0 {
		c.LogX = c.X[0] > 0 && c.X[n-1] > 100*c.X[0]
	}
	return c
}

// modelSection is the part of a report that judges the model.
func (a *app) modelSection(v check.Verdict, b *album) viz.Section {
	s := viz.Section{Title: "Model against data", Tables: []string{v.HTML()}}
	if len(v.Residuals) > 0 {
		f, err := residualPanel(v, "residuals")
		if b.add("residuals", f, err); err == nil {
			s.Figures = append(s.Figures, f)
		}
	}
	return s
}

// verdictFact colours the two halves of a verdict.
func verdictFact(chains diag.Report, model check.Verdict) viz.Fact {
	f := viz.Fact{Name: "verdict", Value: chains.Verdict() + " " + model.Summary(), Verdict: viz.Good}
	if !chains.OK() || !model.OK {
		f.Verdict = viz.Bad
	}
	return f
}
