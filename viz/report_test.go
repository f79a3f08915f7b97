// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

func TestReportHoldsEverything(t *testing.T) {
	r := exampleReport(t)
	page := r.HTML()
	figures := 0
	for _, s := range r.Sections {
		figures += len(s.Figures)
	}
	if n := strings.Count(page, "<figure"); n != figures || strings.Count(page, `class="figure"`) != figures {
		t.Errorf("%d figures on the page, want %d", n, figures)
	}
	if strings.Contains(page, "http") || strings.Contains(page, "src=\"/") || strings.Contains(page, "@import") {
		t.Error("the page refers to something outside")
	}
	for _, want := range []string{"<title>g2 of bin 7, stretched exponential</title>", "water &amp; glycerol &lt;25 °C&gt;", "✗", `class="bad">60`,
		"<li>the band holds 98 % of the points</li>", "ess_bulk", "One check of the draws failed: divergences.", "Figure 10."} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

func TestReportEscapes(t *testing.T) {
	bad := `<script>alert("x")</script>`
	d := posterior(1, 30)
	d.Names[0] = bad
	f, err := Trace(d)
	if err != nil {
		t.Fatal(err)
	}
	f.Title, f.Note = bad, bad
	page := Report{Title: bad, Summary: bad, Facts: []Fact{{Name: bad, Value: bad, Verdict: 7}},
		Sections: []Section{{Title: bad, Text: bad + "\n\n- " + bad, Figures: []*Figure{f, nil}}}}.HTML()
	if strings.Count(page, "<script") != 1 || strings.Contains(page, `>alert`) {
		t.Error("a script came through")
	}
}

func TestEmptyReportIsAPage(t *testing.T) {
	if s := (Report{}).HTML(); !strings.HasPrefix(s, "<!doctype html>") || !strings.HasSuffix(s, "</html>\n") {
		t.Error(s)
	}
}

// Pages of a browser need no XML, but tags that close show that pictures were
// cut at the right place.
func TestInlinePicturesClose(t *testing.T) {
	f, err := Heat(rings(32))
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(f.HTML()))
	for {
		_, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestHeavyPicturesArePixels(t *testing.T) {
	d := posterior(8, 3000)
	f, err := Trace(d, "tau", "contrast", "baseline", "gamma")
	if err != nil {
		t.Fatal(err)
	}
	if s := f.HTML(); !strings.HasPrefix(s, "<img") || !strings.Contains(s, "data:image/png;base64,") {
		t.Errorf("%d bytes that begin with %.40q", len(s), s)
	}
}

// A verdict and a list of files take a line of their own, and a short fact does not.
func TestLongFactsHaveALine(t *testing.T) {
	page := Report{Facts: []Fact{{Name: "seed", Value: "1"}, {Name: "verdict", Value: strings.Repeat("word ", 12)}}}.HTML()
	for _, want := range []string{`<div><dt>seed`, `<div class="long"><dt>verdict`} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

// On paper, tall pictures have a sheet of their own and tables of many columns small letters, and verdicts take a whole line.
func TestReportsOnPaper(t *testing.T) {
	tall := must1(Fit(Curve{X: []float64{1, 2}, Y: []float64{1, 2}, Line: []float64{1, 2}}))
	tall.Height = 2 * tall.Width
	row := func(n int) string {
		return "<table><thead><tr>" + strings.Repeat("<th>a</th>", n) + "</tr></thead></table>"
	}
	page := Report{Title: "r", Facts: []Fact{{Name: "file", Value: "f"}, {Name: "verdict", Value: "It agrees.", Verdict: Good}}, Sections: []Section{{Title: "s", Tables: []string{row(8), row(9)}, Figures: []*Figure{tall}}}}.HTML()
	for text, n := range map[string]int{` tall"`: 1, `class="table many"`: 1, `class="table"`: 1, `<div class="long"><dt>verdict</dt>`: 1} {
		if got := strings.Count(page, text); got != n {
			t.Errorf("%q is there %d times", text, got)
		}
	}
}
