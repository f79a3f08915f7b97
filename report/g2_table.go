// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/g2"
)

// fitTable returns the table of fits for the report.
func fitTable(model g2.Model, fits []g2.Fit) string {
	var b strings.Builder
	place := axisOf(fits).AxisLabel()
	b.WriteString("<table><thead><tr><th>bin</th>")
	if aged(fits) {
		b.WriteString("<th>age (s)</th>")
	}
	fmt.Fprintf(&b, "<th>%s</th>", html.EscapeString(place))
	for _, p := range model.Params {
		name := p.Name
		if p.Unit != "" {
			name += " (" + p.Unit + ")"
		}
		fmt.Fprintf(&b, "<th>%s</th>", html.EscapeString(name))
	}
	b.WriteString("<th>chi²/dof</th><th>status</th><th>model</th></tr></thead><tbody>")
	for _, f := range fits {
		fmt.Fprintf(&b, "<tr><td>%d</td>", f.Curve.Bin)
		if aged(fits) {
			fmt.Fprintf(&b, "<td>%.4g</td>", f.Curve.Age)
		}
		fmt.Fprintf(&b, "<td>%s</td>", qText(f.Curve.Q))
		status := f.Status
		if status == "failed" {
			status += ": " + reason(f)
		}
		for i := range model.Params {
			fmt.Fprintf(&b, "<td>%s</td>", strings.Replace(estimate(f, i), "+-", "±", 1))
		}
		fmt.Fprintf(&b, "<td>%s</td><td>%s</td><td>%s</td></tr>", chiSquare(f), html.EscapeString(status), agreement(f))
	}
	b.WriteString("</tbody></table>")
	return b.String()
}

// qText formats q; it is "-" if q is not known.
func qText(q float64) string {
	if math.IsNaN(q) {
		return "-"
	}
	return fmt.Sprintf("%.4g", q)
}

// estimate formats a parameter with its error; for a failed bin it is "-".
func estimate(f g2.Fit, i int) string {
	if f.Status == "failed" {
		return "-"
	}
	return PlusMinus(f.X[i], f.SD[i])
}

// chiSquare formats the reduced chi-square; it is "-" for a failed bin and where no errors were given,
// so that it is a variance.
func chiSquare(f g2.Fit) string {
	if f.Status == "failed" || f.Curve.Err == nil {
		return "-"
	}
	return fmt.Sprintf("%.3g", f.ReducedChiSquared)
}

// reason says why a bin could not be fitted, without the number of the bin, which the table has.
func reason(f g2.Fit) string {
	return strings.TrimPrefix(strings.TrimPrefix(f.Message, "g2: "), fmt.Sprintf("bin %d: ", f.Curve.Bin))
}

// agreement says in one word whether the model agrees with the data; it is "-" if the fit
// has no minimum to judge, or if the model could not be judged.
func agreement(f g2.Fit) string {
	switch {
	case f.Status == "failed", slices.ContainsFunc(f.Check.Flags, func(m check.Flag) bool { return m.Kind == check.KindUnjudged }):
		return "-"
	case f.Check.Disagrees(), f.OK() && f.Check.OK:
		return f.Check.Word()
	}
	return "-"
}

// WriteFits writes the table of fits as text, followed by the failures and the verdict in a few lines, and by all warnings, findings and
// notes if asked.
func WriteFits(out io.Writer, model g2.Model, fits []g2.Fit, all bool) error {
	w := foreign.Table(out, tabwriter.AlignRight)
	place := "q (1/A)"
	if c := axisOf(fits); c.Axis != "" {
		place = c.AxisLabel()
	}
	fmt.Fprint(w, "bin\t")
	if aged(fits) {
		fmt.Fprint(w, "age (s)\t")
	}
	fmt.Fprintf(w, "%s\t", place)
	for _, p := range model.Params {
		if p.Unit != "" {
			fmt.Fprintf(w, "%s (%s)\t", p.Name, p.Unit)
		} else {
			fmt.Fprintf(w, "%s\t", p.Name)
		}
	}
	fmt.Fprint(w, "chi2/dof\tstatus\tmodel\t\n")
	for _, f := range fits {
		fmt.Fprintf(w, "%d\t", f.Curve.Bin)
		if aged(fits) {
			fmt.Fprintf(w, "%.4g\t", f.Curve.Age)
		}
		fmt.Fprintf(w, "%s\t", qText(f.Curve.Q))
		for i := range model.Params {
			fmt.Fprintf(w, "%s\t", estimate(f, i))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t\n", chiSquare(f), f.Status, agreement(f))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(out, saidOf(fits, all))
	return err
}

// saidOf says what failed and what the verdicts are: in a few lines, or with all warnings, findings and notes.
func saidOf(fits []g2.Fit, all bool) string {
	var said remarks
	var bins []int
	var verdicts []check.Verdict
	details, notes := false, false
	for _, f := range fits {
		if f.Status == "failed" { // fits that did not converge are reported among the flags
			said.add(f.Curve.Bin, reason(f))
			continue
		}
		bins, verdicts = append(bins, f.Curve.Bin), append(verdicts, f.Check)
		details, notes = details || len(f.Check.Flags) > 0, notes || len(f.Check.Notes) > 0
		if all || f.Check.OK {
			for _, m := range f.Warnings {
				said.add(f.Curve.Bin, "warning: "+m)
			}
		}
		if all {
			for _, m := range f.Check.Flags {
				said.add(f.Curve.Bin, m.String())
			}
		}
		for _, m := range f.Check.Notes {
			if all || m.Kind == g2.KindPriors || m.Kind == g2.KindStep { // without it, the numbers would be taken for those of least squares
				said.add(f.Curve.Bin, "note: "+m.Text)
			}
		}
	}
	text := ""
	switch len(verdicts) {
	case 0:
	case 1:
		text = verdicts[0].Line() + "\n"
	default:
		text = strings.Join(check.Digest("bins", verdicts, func(which []int) string {
			var named []int
			for _, i := range which {
				named = append(named, bins[i])
			}
			return binsText(named)
		}), "\n") + "\n"
	}
	if (details || notes) && !all {
		text = strings.TrimSuffix(text, "\n") + map[bool]string{true: " Details", false: " Notes"}[details] + ": --verbose.\n"
	}
	return text + said.String()
}

// remarks are texts about bins. What is said of several bins is written once.
// Warnings and notes that differ only in their numbers are written once, as the first bin has them.
type remarks struct {
	texts []string
	bins  map[string][]int
	first map[string]string // by kind, of warnings and notes
}

func (r *remarks) add(bin int, text string) {
	if r.bins == nil {
		r.bins, r.first = map[string][]int{}, map[string]string{}
	}
	if strings.HasPrefix(text, "note: ") || strings.HasPrefix(text, "warning: ") {
		kind := errtext.Kind(text)
		text = cmp.Or(r.first[kind], text)
		r.first[kind] = text
	}
	if r.bins[text] == nil {
		r.texts = append(r.texts, text)
	}
	r.bins[text] = append(r.bins[text], bin)
}

// String returns a line for each text, which begins with the bins.
func (r *remarks) String() string {
	var b strings.Builder
	for _, text := range r.texts {
		fmt.Fprintf(&b, "%s: %s\n", binsText(r.bins[text]), text)
	}
	return b.String()
}

// binsText names bins, such as bin 3 or bins 1-4,7.
func binsText(bins []int) string {
	if len(bins) == 1 {
		return fmt.Sprintf("bin %d", bins[0])
	}
	var parts []string
	for i := 0; i < len(bins); {
		j := i
		for j+1 < len(bins) && bins[j+1] == bins[j]+1 {
			j++
		}
		if j == i {
			parts = append(parts, fmt.Sprint(bins[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", bins[i], bins[j]))
		}
		i = j + 1
	}
	return "bins " + strings.Join(parts, ",")
}

// aged reports whether the bins are of several ages.
func aged(fits []g2.Fit) bool {
	return slices.ContainsFunc(fits, func(f g2.Fit) bool { return f.Curve.Age > 0 })
}

// axisOf returns a curve that carries the axis common to all fits.
func axisOf(fits []g2.Fit) g2.Curve {
	if len(fits) == 0 {
		return g2.Curve{}
	}
	return fits[0].Curve
}
