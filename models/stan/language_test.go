// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/stan"
)

// number is a JSON number, or NaN or an infinity in quotation marks.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	switch s {
	case "NaN":
		*n = number(math.NaN())
	case "Inf":
		*n = number(math.Inf(1))
	case "-Inf":
		*n = number(math.Inf(-1))
	default:
		var f float64
		if err := json.Unmarshal([]byte(s), &f); err != nil {
			return err
		}
		*n = number(f)
	}
	return nil
}

// languageCase is a small program with what Stan makes of it.
type languageCase struct {
	Group, Name, Code string
	Data              json.RawMessage
	Columns           []string
	Points            []struct {
		U        []float64
		LP       number
		Grad     []number
		Row      []number
		Rejected bool
	}
	Error json.RawMessage
}

// coarse are the tolerances where Stan's own numbers are approximations; ours agree with 30 digits of mpmath.
var coarse = map[string]float64{"density/wiener": 1e-9, "density/wiener statement": 1e-9, "density/wiener with a spread of drifts": 1e-7,
	"density/wiener of seven up to its beginning": 1e-7, "statement/truncated below": 2e-6, "distribution function/std_normal": 5e-6, "function/trigamma": 2e-9, "function/digamma": 2e-9, "thinned/ordered_probit": 5e-6}

func compileText(name, code string, data []byte) (*stan.Posterior, error) {
	p, err := stan.Parse(name, code, stan.Settings{})
	if err != nil {
		return nil, err
	}
	d := stan.Data{}
	if len(data) > 0 {
		if d, err = stan.ReadData(strings.NewReader(string(data))); err != nil {
			return nil, err
		}
	}
	return p.Compile(d, stan.CompileSettings{MaxStatements: 1.2e6})
}

// TestLanguage compares small programs with Stan; thinned.json has distribution statements with all combinations of arguments that
// depend on parameters and such that do not, which decide the constants that are dropped; altered.json has programs of language.json in
// which a word was left out, inserted or replaced, and which Stan accepts nevertheless; conditions.json has loops and functions that are
// left on conditions on parameters, and times of differential equations that are parameters, by stanli 0.24.0, and by mpmath with 40 digits
// where that runs statements after a return; densities.json has densities by stanli 0.24.0, or by mpmath where it has none.
func TestLanguage(t *testing.T) {
	for _, name := range []string{"language.json", "thinned.json", "altered.json", "conditions.json", "densities.json", "functions.json"} {
		languageFile(t, "testdata/"+name)
	}
}

func languageFile(t *testing.T, name string) {
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var cases []languageCase
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Group+"/"+c.Name, func(t *testing.T) { c.run(t) })
	}
}

func (c *languageCase) run(t *testing.T) {
	post, err := compileText("MODEL.stan", c.Code, c.Data)
	if len(c.Error) > 0 {
		c.mistaken(t, err)
		return
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, c.Code)
	}
	tol := 1e-10
	if c.Group == "solver" {
		tol = 1e-5
		if strings.Contains(c.Name, "_tol") {
			tol = 1e-7
		}
	}
	if own, ok := coarse[c.Group+"/"+c.Name]; ok {
		tol = own
	}
	if got := strings.Join(post.Names(), " "); c.Columns != nil && got != strings.Join(c.Columns, " ") {
		t.Errorf("columns are %s, want %s", got, strings.Join(c.Columns, " "))
	}
	for i, pt := range c.Points {
		g := make([]float64, post.Dim())
		lp, err := post.LogProbGrad(pt.U, g)
		if pt.Rejected {
			if err == nil && !math.IsInf(lp, -1) {
				t.Errorf("point %d: the log density is %g, want a rejection", i, lp)
			}
			continue
		}
		if err != nil {
			t.Errorf("point %d: %v", i, err)
			continue
		}
		if !near(lp, float64(pt.LP), tol) {
			t.Errorf("point %d: the log density is %.15g, want %.15g\n%s", i, lp, float64(pt.LP), c.Code)
		}
		for k := range g {
			if !near(g[k], float64(pt.Grad[k]), tol) {
				t.Errorf("point %d: gradient %d is %.15g, want %.15g\n%s", i, k, g[k], float64(pt.Grad[k]), c.Code)
			}
		}
		row := make([]float64, post.Len())
		if err := post.Write(pt.U, row); err != nil {
			t.Errorf("point %d: %v", i, err)
		}
		for k, x := range pt.Row {
			if !near(row[k], float64(x), tol) {
				t.Errorf("point %d: column %s is %.15g, want %.15g", i, post.Names()[k], row[k], float64(x))
			}
		}
	}
}

// near compares relative to the larger of 1 and the wanted number.
func near(got, want, tol float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return fmt.Sprint(got) == fmt.Sprint(want)
	}
	return math.Abs(got-want) <= tol*max(1, math.Abs(want))
}

// mistaken compares an error with Stan's own: the place and the first sentence.
func (c *languageCase) mistaken(t *testing.T, err error) {
	if err == nil {
		t.Fatalf("no error for\n%s", c.Code)
	}
	var want string
	if json.Unmarshal(c.Error, &want) != nil {
		return // only that there is one
	}
	head, body, framed := strings.Cut(want, "\n\n")
	if !framed {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error is\n%v\nwant\n%s", err, want)
		}
		return
	}
	if !strings.Contains(err.Error(), head) {
		t.Errorf("the error is\n%v\nwant the place\n%s", err, head)
	}
	first, _, _ := strings.Cut(body, "\n")
	if i := strings.Index(first, ". "); i >= 0 {
		first = first[:i+1]
	}
	if !strings.Contains(err.Error(), strings.TrimSpace(first)) {
		t.Errorf("the error is\n%v\nwant the sentence\n%s", err, first)
	}
}
