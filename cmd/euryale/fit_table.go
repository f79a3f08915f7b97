package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/euryale-dev/euryale/models/g2"
)

// fitTable is the table of fits for the report.
func fitTable(law g2.Law, fits []g2.Fit) string {
	var b strings.Builder
	place := g2.Curve{}.AxisLabel()
	if len(fits) > 0 {
		place = fits[0].Curve.AxisLabel()
	}
	fmt.Fprintf(&b, "<table><thead><tr><th>bin</th><th>%s</th>", html.EscapeString(place))
	for _, p := range law.Params {
		name := p.Name
		if p.Unit != "" {
			name += " (" + p.Unit + ")"
		}
		fmt.Fprintf(&b, "<th>%s</th>", html.EscapeString(name))
	}
	b.WriteString("<th>chi²/dof</th><th>status</th><th>model</th></tr></thead><tbody>")
	for _, f := range fits {
		fmt.Fprintf(&b, "<tr><td>%d</td><td>%s</td>", f.Curve.Bin, qText(f.Curve.Q))
		status := f.Status
		if status == "failed" {
			status += ": " + f.Message
		}
		for i := range law.Params {
			fmt.Fprintf(&b, "<td>%s</td>", strings.Replace(estimate(f, i), "+-", "±", 1))
		}
		fmt.Fprintf(&b, "<td>%s</td><td>%s</td><td>%s</td></tr>", chiSquare(f), html.EscapeString(status), agreement(f))
	}
	b.WriteString("</tbody></table>")
	return b.String()
}
