// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestErrorText(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("runs", 0o755); err != nil {
		t.Fatal(err)
	}
	formula := errors.New(`formula: there is no function "maximum"`)
	for want, err := range map[string]error{
		`bad.json: field expr: there is no function "maximum"`: fmt.Errorf("bad.json: %w", fmt.Errorf("expr: field expr: %w", formula)),
		"trace: there are no draws":                            &exitError{code: exitUsage, err: errors.New("viz: trace: there are no draws")},
		"expr: no value":                                       fmt.Errorf("expr: expr: no value"),
		"calibration: g2: a draw is NaN":                       fmt.Errorf("infer: calibration: g2: %w", errors.New("a draw is NaN")),
		"runs: is empty":                                       fmt.Errorf("%s: %w", "runs", errors.New("is empty")),
		"one\ntwo":                                             errors.Join(errors.New("infer: one"), errors.New("optim: two")),
		"g2: ":                                                 errors.New("g2: "),
	} {
		if got := errorText(err, []string{"plot", "trace", "runs", "expr"}); got != want {
			t.Errorf("%q, want %q", got, want)
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
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "internal/mutate") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		own := named.FindSubmatch(text)
		for _, m := range begins.FindAllSubmatch(text, -1) {
			if own != nil && string(m[1]) == string(own[1]) && !slices.Contains(packages, string(m[1])) {
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
		"compare a":               "compare needs a run or a file\n",
		"batch merge":             "batch merge needs a folder or a file (.yaml)\n",
		"fit nlsq own.json":       "did you mean --problem own.json?\nTry: euryale fit nlsq --help",
		"info a b":                "info takes at most 1 argument: leave out b\n",
		"demo g2 x":               "demo g2 takes no arguments besides its flags: leave out x\n",
		"fit g2 --modle x":        "unknown flag: --modle\nTry: euryale fit g2 --help",
		"foo":                     "Try: euryale --help",
		"fit nlsq --out d":        "fit nlsq has no folder of results: leave out --out d\n",
		"convert run out --out d": "convert has no folder of results: leave out --out d, and name the output last\n",
	} {
		code, _, stderr := do(t, strings.Fields(line)...)
		if line == "fit nlsq --out d" { // the problem is a required flag
			code, _, stderr = do(t, "fit", "nlsq", "--problem", "x.json", "--out", "d")
		}
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %q, want %q", line, code, stderr, want)
		}
	}
}

// A column of labels is not unknown, but no column of numbers.
func TestColumnOfLabels(t *testing.T) {
	problem := write(t, "p.json", `{"expr": "a+b*x", "data": {"x": ["1", "2", "3"], "y": [1, 2, 3.1]}, "start": {"a": 0, "b": 1}, "sigma": "0.1"}`)
	priors := write(t, "q.json", `{"expr": "a+b*x", "data": {"x": ["1", "2", "3"], "y": [1, 2, 3.1]}, "priors": {"a": "normal(0,1)", "b": "normal(0,1)"}, "sigma": "0.1"}`)
	for _, args := range [][]string{{"fit", "nlsq", "--problem", problem}, {"sample", "expr", "--problem", priors}, {"sbc", "--problem", priors}} {
		if code, _, stderr := do(t, args...); code != exitData || !strings.Contains(stderr, `label`) || strings.Contains(stderr, "neither") {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
}

// A table of numbers without a column of a sampler is read as draws, but not without a word.
func TestPlainTableOfDraws(t *testing.T) {
	t.Chdir(t.TempDir())
	table, draws := decayCSV(""), "lp__,a\n1,2\n1,3\n2,4\n1,1\n"
	for name, text := range map[string]string{"table.csv": table, "draws.csv": draws} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"summary", name}, {"diagnose", name}, {"plot", "density", name, name + ".svg"}, {"convert", name, name + ".nc"}} {
			code, _, stderr := do(t, args...)
			if said := strings.Contains(stderr, "has no column lp__"); code != 0 || said != (name == "table.csv") {
				t.Errorf("%v: exit %d: %s", args, code, stderr)
			}
		}
	}
}
