// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/infer/diag"
)

func TestErrorText(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("runs", 0o755); err != nil {
		t.Fatal(err)
	}
	formula := errors.New(`formula: there is no function "maximum"`)
	for want, err := range map[string]error{
		`bad.json: field expr: there is no function "maximum"`: fmt.Errorf("bad.json: %w", fmt.Errorf("expr: field expr: %w", formula)),
		"trace: there are no draws":                            &exit.Error{Code: exit.WrongUsage, Err: errors.New("viz: trace: there are no draws")},
		"expr: no value":                                       fmt.Errorf("expr: expr: no value"),
		"calibration: g2: a draw is NaN":                       fmt.Errorf("infer: calibration: g2: %w", errors.New("a draw is NaN")),
		"runs: is empty":                                       fmt.Errorf("%s: %w", "runs", errors.New("is empty")),
		"one\ntwo":                                             errors.Join(errors.New("infer: one"), errors.New("optim: two")),
		"g2: ":                                                 errors.New("g2: "),
		"data: there is no file or folder runs/x":              fmt.Errorf("data: %w", &fs.PathError{Op: "stat", Path: "runs/x", Err: syscall.ENOENT}),
		"runs/x/y/z cannot be written: there is no folder runs/x":            &fs.PathError{Op: "mkdir", Path: "runs/x/y/z", Err: syscall.ENOENT},
		"runs/x cannot be written: you lack the permission to write to runs": &fs.PathError{Op: "create", Path: "runs/x", Err: syscall.EACCES},
		"runs/x cannot be read: you lack the permission":                     &fs.PathError{Op: "open", Path: "runs/x", Err: syscall.EACCES},
	} {
		if got := exit.Text(err, []string{"plot", "trace", "runs", "expr"}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Where something cannot be read or written, the hint says how it could be.
func TestHintsAboutFiles(t *testing.T) {
	for hint, err := range map[string]error{
		"mkdir -p none/of":                             exit.With(exit.CannotWrite, &fs.PathError{Op: "create", Path: "none/of/these.csv", Err: syscall.ENOENT}),
		"another place, or chmod u+w runs":             exit.With(exit.CannotWrite, fmt.Errorf("runs: %w", &fs.PathError{Op: "mkdir", Path: "runs/x", Err: syscall.EACCES})),
		"chmod u+r a.csv, or a file that you may read": exit.Input(&fs.PathError{Op: "open", Path: "a.csv", Err: syscall.EACCES}),
	} {
		var e *exit.Error
		if !errors.As(err, &e) || e.Hint != hint {
			t.Errorf("%v: hint %q, want %q", err, e.Hint, hint)
		}
	}
}

// All packages that begin the texts of their errors with their names are known.
func TestPackagesAreKnown(t *testing.T) {
	begins := regexp.MustCompile(`(?:Errorf|errors\.New|errtext\.Join)\("([a-z0-9]+)(?:: |")`)
	named := regexp.MustCompile(`(?m)^package ([a-z0-9]+)$`)
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "internal/") && !strings.Contains(name, "pretend") || strings.Contains(name, "examples/") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		own := named.FindSubmatch(text)
		for _, m := range begins.FindAllSubmatch(text, -1) {
			if own != nil && string(m[1]) == string(own[1]) && !slices.Contains(exit.Packages, string(m[1])) {
				t.Errorf("%s: %q begins an error, but is not in packages", name, m[1])
				break
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestArguments(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, want := range map[string]string{
		"plot trace":              "plot trace needs a run or a file\nTry: euryale plot --help",
		"summary":                 "summary needs a run or a file\nTry: euryale summary --help",
		"convert run":             "convert needs a name for the output\n",
		"compare a":               "compare needs another run or file\n",
		"batch merge":             "batch merge needs a folder or a file (.yaml)\n",
		"sbc own.json":            "did you mean --problem own.json?\nTry: euryale sbc --help",
		"sample stan a.stan b":    "sample stan takes one file, a.stan: did you mean --data b?\n",
		"sample stan b a.stan":    "sample stan takes one file, a.stan: did you mean --data b?\n",
		"info a b":                "info takes at most 1 argument: leave out b\n",
		"demo g2 x":               "demo g2 takes no arguments besides its flags: leave out x\n",
		"sbc --out d":             "sbc has no folder of results: leave out --out d\n",
		"convert run out --out d": "convert has no folder of results: leave out --out d, and name the output last\n",
	} {
		code, _, stderr := apptest.Do(t, strings.Fields(line)...)
		if line == "sbc --out d" { // the problem is a required flag
			code, _, stderr = apptest.Do(t, "sbc", "--problem", "x.json", "--out", "d")
		}
		if code != exit.WrongUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %q, want %q", line, code, stderr, want)
		}
	}
}

// A column of labels is not unknown, but no column of numbers.
func TestColumnOfLabels(t *testing.T) {
	problem := apptest.Write(t, "p.json", `{"expr": "a+b*x", "data": {"x": ["1", "2", "3"], "y": [1, 2, 3.1]}, "start": {"a": 0, "b": 1}, "sigma": "0.1"}`)
	priors := apptest.Write(t, "q.json", `{"expr": "a+b*x", "data": {"x": ["1", "2", "3"], "y": [1, 2, 3.1]}, "priors": {"a": "normal(0,1)", "b": "normal(0,1)"}, "sigma": "0.1"}`)
	for _, args := range [][]string{{"fit", "nlsq", "--problem", problem}, {"sample", "expr", "--problem", priors}, {"sbc", "--problem", priors}} {
		if code, _, stderr := apptest.Do(t, args...); code != exit.Data || !strings.Contains(stderr, `label`) || strings.Contains(stderr, "neither") {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
}

// A table of numbers without a column of a sampler is read as draws, but not without a word.
func TestPlainTableOfDraws(t *testing.T) {
	t.Chdir(t.TempDir())
	table, draws := apptest.DecayCSV(""), "lp__,a\n1,2\n1,3\n2,4\n1,1\n"
	for name, text := range map[string]string{"table.csv": table, "draws.csv": draws} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"summary", name}, {"diagnose", name}, {"plot", "density", name, name + ".svg"}, {"convert", name, name + ".nc"}} {
			code, _, stderr := apptest.Do(t, args...)
			if said := strings.Contains(stderr, "has no column lp__"); code != 0 || said != (name == "table.csv") {
				t.Errorf("%v: exit %d: %s", args, code, stderr)
			}
		}
	}
}

// The table of summary and its document have the same interval, and the failed checks are told.
func TestSummaryIntervals(t *testing.T) {
	file := apptest.Write(t, "draws.csv", "lp__,a\n1,2\n1,3\n2,4\n1,1\n")
	code, out, _ := apptest.Do(t, "summary", file, "--json")
	var doc draws.Judged
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	if r := doc.Summary["a"]; !(r.ETI89Lo > 1 && r.ETI89Lo < 1.3 && r.ETI89Hi > 3.7 && r.ETI89Hi < 4) {
		t.Errorf("%+v", r)
	}
	if _, out, _ := apptest.Do(t, "summary", file); !strings.Contains(out, "eti89_lb") || !strings.Contains(out, "R-hat: ") || !strings.Contains(out, "effective sample size: a has the smallest") {
		t.Error(out)
	}
	if code, _, stderr := apptest.Do(t, "summary", file, "--strict"); code != exit.Failed || !strings.Contains(stderr, "Error: diagnostics: 2 checks") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// compare names the command that shows why an estimate cannot be trusted.
func TestCompareNamesLOO(t *testing.T) {
	rows := []diag.Compared{{Name: "a", Trusted: true}, {Name: "b", Diff: -1}}
	for waic, want := range map[bool]string{false: "The estimate of b cannot be trusted, because Pareto k is too large at some observations: see `euryale loo run-b`.", true: "`euryale loo run-b --waic`"} {
		if got := draws.Comparison(diag.Comparison{Rows: rows}, []string{"run-a", "run-b"}, []string{"a", "b"}, waic); !strings.HasSuffix(got, want) && !strings.Contains(got, want) || strings.Contains(got, "Diagnose") {
			t.Error(got)
		}
	}
}

// fit nlsq writes values to the digits of their errors, and whether it converged.
func TestFitNLSQText(t *testing.T) {
	problem := apptest.Write(t, "p.json", `{"expr": "a*x", "data": {"x": [1, 2, 3], "y": [1, 2.1, 2.9], "s": [0.1, 0.1, 0.1]}, "sigma": "s", "start": {"a": 2}}`)
	code, out, stderr := apptest.Do(t, "fit", "nlsq", "--problem", problem)
	if code != 0 || !strings.HasPrefix(out, "a            0.993 +- 0.027\nconverged: ") || !strings.Contains(out, "; chi2/dof ") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

// Every flag states its default at most once, and no command that only holds others is shown as if it could be
// called with flags alone.
func TestHelpDefaults(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			_, shown := pflag.UnquoteUsage(f)
			v, err := strconv.ParseFloat(f.DefValue, 64)
			zero := slices.Contains([]string{"", "false", "0", "[]", "0s", "0.0", "<nil>"}, f.DefValue)
			if !zero && strings.Contains(shown, "(default") || err == nil && math.Abs(v) >= 1e9 {
				t.Errorf("%s: --%s: %s, default %s", c.CommandPath(), f.Name, shown, f.DefValue)
			}
			if f.Value.Type() == "int64Slice" && f.DefValue == "[]" {
				t.Errorf("%s: --%s shows (default [])", c.CommandPath(), f.Name)
			}
		})
		if usage := c.UsageString(); c.Annotations["holder"] != "" && strings.Contains(usage, "[flags]") {
			t.Errorf("%s: %s", c.CommandPath(), usage)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(app.Command())
}
