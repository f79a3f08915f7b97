package check

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// KindUnjudged is the flag of a model that nothing can be said of.
const KindUnjudged = "not judged"

// KindUnconverged is the flag of a fit that stopped before a minimum: a model that
// agrees with the data there does so by chance.
const KindUnconverged = "not converged"

// Flag is one disagreement in words.
type Flag struct {
	Kind     string  // what was tested, such as "outliers"
	Text     string  // what was seen, with numbers
	Where    string  // range or points, if there are any
	Remedy   string  // what to try next
	P        float64 // of the test; 0 where there was none to make
	Forgiven bool    // the loss of the fit was chosen to forgive it
	Note     bool    // known and harmless, or asked for: it does not count
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
	Of       string  // axis, parameter or neighbours that it looked at, if there are several
	P        float64 // by itself
	Adjusted float64 // together with all others, by Holm's method
}

// Verdict says whether model, data, bounds and priors agree.
type Verdict struct {
	OK       bool       // no flag
	P        float64    // smallest adjusted p-value; NaN where nothing could be tested
	Reduced  float64    // chi-square per degree of freedom; NaN where the errors are not known
	Expected [2]float64 // its central 99 % for a right model
	Points   int
	DoF      int
	Flags    []Flag // disagreements, the strongest first
	Notes    []Flag // what is worth knowing and does not count
	Tests    []Test
	// Residuals are the standardised residuals divided by what the fit leaves of their
	// standard deviations, in the order of the data; nil where there are none.
	Residuals []float64
	Axes      []Axis // along which they were measured
}

// add files a flag, once.
func (v *Verdict) add(f Flag, note bool) {
	if f.Note = note; note {
		v.Notes = append(v.Notes, f)
		return
	}
	v.Flags = append(v.Flags, f)
}

// Misfit reports whether a flag is of the kind that another minimum, or another model,
// could take away: not of data that were altered or do not determine the parameters,
// nor of residuals that are too small.
func (v Verdict) Misfit() bool {
	return slices.ContainsFunc(v.Flags, func(f Flag) bool {
		tested := slices.ContainsFunc(v.Tests, func(t Test) bool { return t.Kind == f.Kind })
		return tested && !(f.Kind == KindSize && v.Reduced < v.Expected[0])
	})
}

// Disagrees reports whether a flag is about the model and the data, and not only about a
// fit that did not converge.
func (v Verdict) Disagrees() bool {
	return slices.ContainsFunc(v.Flags, func(f Flag) bool { return f.Kind != KindUnconverged })
}

// Summary is one sentence.
func (v Verdict) Summary() string {
	size := ""
	if !math.IsNaN(v.Reduced) {
		size = fmt.Sprintf(" (reduced chi-square %.3g, expected %.3g to %.3g)", v.Reduced, v.Expected[0], v.Expected[1])
	}
	if slices.ContainsFunc(v.Flags, func(f Flag) bool { return f.Kind == KindUnconverged }) {
		return "The fit did not converge, so the model cannot be judged" + size + "."
	}
	switch n := len(v.Flags); n {
	case 0:
		if i := slices.IndexFunc(v.Notes, func(f Flag) bool { return f.Forgiven }); i >= 0 {
			return "The model agrees with the data apart from what the loss forgives: " + v.Notes[i].Kind + "."
		}
		return "The model agrees with the data" + size + "."
	case 1:
		if v.Flags[0].Kind == KindUnjudged {
			return "The model could not be judged: " + v.Flags[0].Text + "."
		}
		return "The model disagrees with the data" + size + ": " + v.Flags[0].Kind + "."
	default:
		var kinds []string
		for _, f := range v.Flags {
			kinds = append(kinds, f.Kind)
		}
		return fmt.Sprintf("The model disagrees with the data%s in %d ways: %s.", size, n, strings.Join(kinds, ", "))
	}
}

// String is the summary with a line for each flag and note.
func (v Verdict) String() string {
	var b strings.Builder
	b.WriteString(v.Summary())
	for _, f := range v.Flags {
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
	for _, f := range v.Flags {
		b.WriteString("<li>" + html.EscapeString(f.String()) + "</li>\n")
	}
	for _, f := range v.Notes {
		b.WriteString("<li>Note: " + html.EscapeString(f.Text) + "</li>\n")
	}
	b.WriteString("</ul>\n<table><thead><tr><th>test</th><th>p</th><th>p of all tests together</th></tr></thead><tbody>")
	for _, t := range v.Tests {
		what := t.Kind
		if t.Of != "" {
			what += ": " + t.Of
		}
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%.2g</td><td>%.2g</td></tr>", html.EscapeString(what), t.P, t.Adjusted)
	}
	b.WriteString("</tbody></table>\n")
	return b.String()
}

// SimpleRender returns the verdict for the notebook gophernotes.
func (v Verdict) SimpleRender() map[string]interface{} {
	return map[string]interface{}{"text/html": v.HTML(), "text/plain": v.String()}
}
