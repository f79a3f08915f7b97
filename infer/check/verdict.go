// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// KindUnjudged is the flag of a model that cannot be judged.
const KindUnjudged = "not judged"

// KindUnconverged is the flag of a fit that stopped before it reached a minimum: agreement of the
// model with the data there is accidental.
const KindUnconverged = "not converged"

// Flag is one disagreement in words.
type Flag struct {
	Kind     string   // kind of test, such as "outliers"
	Text     string   // description of the finding, with numbers
	Where    string   // range or points concerned, if any
	Remedy   string   // remedy to try next
	Rivals   []string // kinds of departures that explain the residuals nearly as well
	P        float64  // p-value of the test; 0 if there was no test
	Forgiven bool     // true if the loss of the fit was chosen to tolerate it
	Note     bool     // true if it is known and harmless, or was asked for, and so does not count
}

// String is the finding and the remedy in one line.
func (f Flag) String() string {
	if f.Remedy == "" {
		return f.Text
	}
	return f.Text + ". Try: " + f.Remedy
}

// Test is the outcome of one test.
type Test struct {
	Kind     string
	Of       string  // name of the tested axis, parameter or neighbours, if there are several
	P        float64 // p-value of the test by itself
	Adjusted float64 // p-value adjusted for all other tests by Holm's method
}

// Verdict says whether model, data, bounds and priors agree.
type Verdict struct {
	OK       bool       // true if there are no flags
	P        float64    // smallest adjusted p-value; NaN if nothing could be tested
	Reduced  float64    // chi-square per degree of freedom; NaN if the errors are unknown
	Expected [2]float64 // central 99 % range of Reduced for a correct model
	Points   int
	DoF      int
	Flags    []Flag // list of disagreements, the strongest first
	Notes    []Flag // observations that are worth knowing but do not count
	Tests    []Test
	// Residuals are the standardised residuals divided by what the fit leaves of their
	// standard deviations, in the order of the data; nil where there are none.
	Residuals []float64
	Axes      []Axis // axes along which the residuals were measured

	rescaled bool   // whether Reduced is that of errors taken at the predicted values
	drawn    string // how far errors of the observed values moved a parameter, as the end of a sentence; "" if that is little
}

// add appends a flag or a note, unless it is there already.
func (v *Verdict) add(f Flag, note bool) {
	if f.Note = note; note {
		v.Notes = append(v.Notes, f)
		return
	}
	v.Flags = append(v.Flags, f)
}

// listed joins names in a sentence, at most eight of them.
func listed(names []string) string {
	const most = 8
	last := len(names) - 1
	switch {
	case last < 1:
		return strings.Join(names, "")
	case len(names) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), len(names)-most+1)
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Misfit reports whether there is a flag of a kind that another minimum or another model could
// remove. Flags about altered data, undetermined parameters and residuals that are too small are not
// of this kind.
func (v Verdict) Misfit() bool {
	return slices.ContainsFunc(v.Flags, func(f Flag) bool {
		tested := slices.ContainsFunc(v.Tests, func(t Test) bool { return t.Kind == f.Kind })
		return tested && !(f.Kind == KindSize && v.Reduced < v.Expected[0])
	})
}

// Has reports whether there is a flag of one of some kinds.
func (v Verdict) Has(kinds ...string) bool {
	return slices.ContainsFunc(v.Flags, func(f Flag) bool { return slices.Contains(kinds, f.Kind) })
}

// Disagrees reports whether a flag is about model and data, rather than only about a fit that did
// not converge.
func (v Verdict) Disagrees() bool {
	return slices.ContainsFunc(v.Flags, func(f Flag) bool { return f.Kind != KindUnconverged })
}

// judged reports whether the verdict is one: the zero value is of a model that nobody judged, such as
// that of an interrupted fit.
func (v Verdict) judged() bool {
	return v.OK || v.Points > 0 || len(v.Tests)+len(v.Flags)+len(v.Notes) > 0
}

// undetermined returns the parameters and combinations that the data do not determine, each once.
func (v Verdict) undetermined() (names []string) {
	for _, f := range v.Flags {
		if f.Kind != KindUnknown {
			continue
		}
		for _, name := range strings.Split(f.Where, ", ") {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// onlyUndetermined reports whether nothing is wrong but that the data do not determine some parameters.
func (v Verdict) onlyUndetermined() bool {
	return len(v.Flags) > 0 && !slices.ContainsFunc(v.Flags, func(f Flag) bool { return f.Kind != KindUnknown })
}

// Word is the verdict in one word, for tables: agrees, misfit, undetermined if the data do not determine some parameters and
// nothing else is wrong, or "not judged".
func (v Verdict) Word() string {
	switch {
	case !v.judged() || slices.ContainsFunc(v.Flags, func(f Flag) bool { return f.Kind == KindUnjudged }):
		return "not judged"
	case v.OK:
		return "agrees"
	case v.onlyUndetermined():
		return "undetermined"
	}
	return "misfit"
}

// size is the reduced chi-square in parentheses; it is "" where the errors are unknown.
func (v Verdict) size() string {
	if math.IsNaN(v.Reduced) {
		return ""
	}
	of := ""
	if v.rescaled {
		of = " with the errors at the predicted values"
	}
	return fmt.Sprintf(" (reduced chi-square%s %.3g, expected %.3g to %.3g)", of, v.Reduced, v.Expected[0], v.Expected[1])
}

// Summary is one sentence.
func (v Verdict) Summary() string {
	if !v.judged() {
		return "The model was not judged."
	}
	size := v.size()
	if slices.ContainsFunc(v.Flags, func(f Flag) bool { return f.Kind == KindUnconverged }) {
		return "The fit did not converge, so the model cannot be judged" + size + "."
	}
	names := v.undetermined()
	if i := slices.IndexFunc(v.Flags, func(f Flag) bool { return f.Kind == KindUnjudged }); i >= 0 {
		if len(names) > 0 {
			return "The model could not be judged: " + v.Flags[i].Text + "; nor do the data determine " + listed(names) + "."
		}
		return "The model could not be judged: " + v.Flags[i].Text + "."
	}
	if v.onlyUndetermined() {
		return "The residuals agree with the model" + size + ", but the data do not determine " + listed(names) + "."
	}
	switch n := len(v.Flags); n {
	case 0:
		if i := slices.IndexFunc(v.Notes, func(f Flag) bool { return f.Forgiven }); i >= 0 {
			return "The model agrees with the data, apart from what the loss of the fit tolerates: " + v.Notes[i].Kind + "."
		}
		return "The model agrees with the data" + size + v.drawn + "."
	case 1:
		return "The model disagrees with the data" + size + ": " + v.Flags[0].Kind + "."
	default:
		return fmt.Sprintf("The model disagrees with the data%s in %d ways: %s.", size, n, strings.Join(kindsOf(v.Flags), ", "))
	}
}

// kindsOf lists the kinds of flags, with the parameters that they are about, or how many of a kind there are.
func kindsOf(flags []Flag) (kinds []string) {
	times, where := map[string]int{}, map[string][]string{}
	for _, f := range flags {
		if times[f.Kind]++; times[f.Kind] == 1 {
			kinds = append(kinds, f.Kind)
		}
		if f.Kind == KindPrior || f.Kind == KindBound || f.Kind == KindUnknown {
			where[f.Kind] = append(where[f.Kind], f.Where)
		}
	}
	for i, kind := range kinds {
		if names := slices.DeleteFunc(where[kind], func(s string) bool { return s == "" }); len(names) > 0 {
			slices.Sort(names)
			kinds[i] = fmt.Sprintf("%s (%s)", kind, listed(slices.Compact(names)))
		} else if k := times[kind]; k > 1 {
			kinds[i] = fmt.Sprintf("%s (%d times)", kind, k)
		}
	}
	return kinds
}

// NothingLeft is the flag of a model whose parameters take up all data.
func NothingLeft() Flag {
	return Flag{Kind: KindUnjudged, Text: "there are as many parameters as points, so nothing is left to judge the model by", Remedy: "measure more points, or fix a parameter"}
}

// Unjudged is the verdict about a model that could not be judged for a reason, with what to do about it.
func Unjudged(reason, remedy string) Verdict {
	nan := math.NaN()
	return Verdict{P: nan, Reduced: nan, Expected: [2]float64{nan, nan}, Flags: []Flag{{Kind: KindUnjudged, Text: "the check of the model failed: " + reason, Remedy: remedy}}}
}

// Listed returns the flags to list below the summary: all of them, unless the summary already says everything about the
// only one.
func (v Verdict) Listed() []Flag {
	if len(v.Flags) == 1 && v.Flags[0].Kind == KindUnjudged && v.Flags[0].Remedy == "" {
		return nil
	}
	return v.Flags
}

// String is the summary with a line for each flag and note.
func (v Verdict) String() string {
	var b strings.Builder
	b.WriteString(v.Summary())
	for _, f := range v.Listed() {
		b.WriteString("\n- " + f.String())
	}
	for _, f := range v.Notes {
		b.WriteString("\n  note: " + f.Text)
	}
	return b.String()
}

// HTML is the verdict with the p-values of all tests, for a page or a notebook.
func (v Verdict) HTML() string {
	var b strings.Builder
	b.WriteString("<p><b>" + html.EscapeString(v.Summary()) + "</b></p>\n<ul>\n")
	for _, f := range v.Listed() {
		b.WriteString("<li>" + html.EscapeString(f.String()) + "</li>\n")
	}
	for _, f := range v.Notes {
		b.WriteString("<li>Note: " + html.EscapeString(f.Text) + "</li>\n")
	}
	b.WriteString("</ul>\n")
	if len(v.Tests) == 0 {
		return b.String()
	}
	open := " open"
	if v.OK {
		open = "" // a click shows the tests of a model that passed them
	}
	fmt.Fprintf(&b, "<details%s><summary>%s</summary>\n", open, errtext.Count(len(v.Tests), "test"))
	b.WriteString("<table><thead><tr><th style=\"text-align:left\">test</th><th>p</th><th>p adjusted for all tests</th></tr></thead><tbody>")
	for _, t := range v.Tests {
		what := t.Kind
		if t.Of != "" {
			what += ": " + t.Of
		}
		fmt.Fprintf(&b, `<tr><td style="text-align:left">%s</td><td>%s</td><td>%s</td></tr>`, html.EscapeString(what), html.EscapeString(pValue(t.P)), html.EscapeString(pValue(t.Adjusted)))
	}
	b.WriteString("</tbody></table></details>\n")
	return b.String()
}

// pValue writes a p-value with two digits.
func pValue(p float64) string {
	if p < 1e-300 {
		return "< 1e-300"
	}
	return fmt.Sprintf("%.2g", p)
}

// SimpleRender returns the verdict for the notebook gophernotes.
func (v Verdict) SimpleRender() map[string]interface{} {
	return map[string]interface{}{"text/html": v.HTML(), "text/plain": v.String()}
}
