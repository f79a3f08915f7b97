package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/euryale-dev/euryale/infer/check"
)

// checkDoc is the verdict about the model in the JSON contract.
type checkDoc struct {
	OK       bool      `json:"ok"`
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
	return &checkDoc{OK: v.OK, P: number(v.P), Reduced: number(v.Reduced), Expected: [2]number{number(v.Expected[0]), number(v.Expected[1])},
		Flags: flagDocs(v.Flags), Notes: flagDocs(v.Notes)}
}

func flagDocs(list []check.Flag) []flagDoc {
	out := []flagDoc{}
	for _, f := range list {
		out = append(out, flagDoc{f.Kind, f.Text, f.Where, f.Remedy, number(f.P)})
	}
	return out
}

// strictly fails on a verdict about the model that is not good.
func strictly(v check.Verdict) error {
	if v.OK {
		return nil
	}
	return as(exitFailed, fmt.Errorf("model check: %s", v.Summary()))
}

// checkHTML is the verdict for a report.
func checkHTML(v check.Verdict) string {
	var b strings.Builder
	b.WriteString("<p><b>" + html.EscapeString(v.Summary()) + "</b></p>\n<ul>\n")
	for _, f := range v.Flags {
		b.WriteString("<li>" + html.EscapeString(f.String()) + "</li>\n")
	}
	for _, f := range v.Notes {
		b.WriteString("<li>Note: " + html.EscapeString(f.Text) + "</li>\n")
	}
	b.WriteString("</ul>\n<table>\n<tr><th>test</th><th>p</th><th>p, all tests together</th></tr>\n")
	for _, t := range v.Tests {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%.2g</td><td>%.2g</td></tr>\n", html.EscapeString(t.Kind), t.P, t.Adjusted)
	}
	b.WriteString("</table>\n")
	return b.String()
}
