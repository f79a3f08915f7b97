// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stancsv_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/stancsv"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/tensor"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func text(t *testing.T, c *stancsv.Chain) string {
	t.Helper()
	var b bytes.Buffer
	must(t, c.Write(&b))
	return b.String()
}

// tree is a run of 2 chains and 3 draws with a warm-up of 2.
func tree(t *testing.T) *tensor.DataTree {
	t.Helper()
	out := tensor.NewDataTree()
	for _, g := range []struct {
		prefix string
		draws  int
	}{{"", 3}, {"warmup_", 2}} {
		n := 2 * g.draws
		post, stats := tensor.NewDataset(g.prefix+"posterior"), tensor.NewDataset(g.prefix+"sample_stats")
		post.Attrs["tuning_steps"], post.Attrs["inference_library"], post.Attrs["inference_library_version"], stats.Attrs["max_tree_depth"] = "2", "euryale", "1", "7"
		mu, l, lp := make([]float64, n), make([]float64, 4*n), make([]float64, n)
		steps, diverging := make([]int64, n), make([]bool, n)
		for i := range n {
			mu[i], lp[i], steps[i], diverging[i] = math.Sqrt(float64(i)), -float64(i), int64(2*i+1), i%2 == 1
			for k := range 4 {
				l[4*i+k] = float64(10*i + k)
			}
		}
		mu[0], mu[1] = math.NaN(), math.Inf(-1)
		must(t, post.AddCoord("chain", []int{0, 1}), post.AddCoord("draw", make([]int, g.draws)),
			post.Add("mu", mu, tensor.Shape{2, g.draws}, "chain", "draw"),
			post.Add("L", l, tensor.Shape{2, g.draws, 2, 2}, "chain", "draw", "L_dim_0", "L_dim_1"),
			stats.Add("energy", lp, tensor.Shape{2, g.draws}, "chain", "draw"), stats.Add("lp", lp, tensor.Shape{2, g.draws}, "chain", "draw"),
			stats.Add("acceptance_rate", lp, tensor.Shape{2, g.draws}, "chain", "draw"), stats.Add("step_size", mu, tensor.Shape{2, g.draws}, "chain", "draw"), stats.Add("tree_depth", steps, tensor.Shape{2, g.draws}, "chain", "draw"),
			stats.Add("n_steps", steps, tensor.Shape{2, g.draws}, "chain", "draw"), stats.Add("diverging", diverging, tensor.Shape{2, g.draws}, "chain", "draw"),
			stats.Add("other", lp, tensor.Shape{2, g.draws}, "chain", "draw"), out.Add(post), out.Add(stats))
	}
	return out
}

func TestChainsOfTree(t *testing.T) {
	chains, err := stancsv.Chains(tree(t))
	must(t, err)
	if len(chains) != 2 || len(chains[0].Draws) != 3 || len(chains[0].Warmup) != 2 {
		t.Fatalf("%+v", chains)
	}
	want := []string{"lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__", "mu", "L.1.1", "L.2.1", "L.1.2", "L.2.2"}
	if !slices.Equal(chains[0].Columns, want) {
		t.Errorf("columns %v, want %v", chains[0].Columns, want)
	}
	// Row-major 30, 31, 32, 33 of chain 1, draw 0 stands column-major in the table.
	if row := chains[1].Draws[0]; !slices.Equal(row[8:], []float64{30, 32, 31, 33}) || row[5] != 1 {
		t.Errorf("row %v", row)
	}
	chains[0].Adapted = &stancsv.Adaptation{StepSize: 0.25, InvMetric: [][]float64{{1, 2.5, 3, 4, 5}}}
	chains[0].Elapsed = &stancsv.Elapsed{Warmup: 0.5, Sampling: 1.25}
	out := text(t, chains[0])
	for _, line := range []string{"# stan_version_major = 2\n", "#     num_samples = 3\n", "#     num_warmup = 2\n", "#     save_warmup = 1\n", "#     thin = 1\n", "#       delta = 0.8\n",
		"#             max_depth = 7\n", "# id = 1\n", "#   seed = 0\n", "\nlp__,accept_stat__,", "# Adaptation terminated\n# Step size = 0.25\n# Diagonal elements of inverse mass matrix:\n# 1, 2.5, 3, 4, 5\n",
		"#  Elapsed Time: 0.5 seconds (Warm-up)\n#                1.25 seconds (Sampling)\n#                1.75 seconds (Total)\n", ",nan,", "# euryale_version = 1\n"} {
		if !strings.Contains(out, line) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
	back, err := stancsv.Read(strings.NewReader(out), "x")
	must(t, err)
	if !reflect.DeepEqual(back.Adapted, chains[0].Adapted) || *back.Elapsed != *chains[0].Elapsed || len(back.Warmup) != 2 || len(back.Draws) != 3 {
		t.Errorf("%+v", back)
	}
	if again := text(t, back); again != out {
		t.Errorf("written again:\n%s\nwas\n%s", again, out)
	}
}

func TestTreeOfChains(t *testing.T) {
	want := tree(t)
	chains, err := stancsv.Chains(want)
	must(t, err)
	got, err := stancsv.Tree(chains)
	must(t, err)
	for _, group := range []string{"posterior", "sample_stats", "warmup_posterior", "warmup_sample_stats"} {
		g, err := got.Group(group)
		must(t, err)
		w, err := want.Group(group)
		must(t, err)
		for _, v := range w.Vars() {
			u := g.Var(v.Name)
			if v.Name == "other" {
				continue
			}
			if u == nil || !reflect.DeepEqual(u.Dims, v.Dims) || !u.Shape.Equal(v.Shape) || u.DType() != v.DType() {
				t.Errorf("%s: got %v, want %v", group, u, v)
				continue
			}
			for i := range v.Len() {
				if u.Text(i) != v.Text(i) {
					t.Errorf("%s: got %v, want %v", group, u, v)
				}
			}
		}
	}
	post, _ := got.Group("posterior")
	if post.Attrs["inference_library"] != "euryale" || post.Attrs["tuning_steps"] != "" && post.Attrs["tuning_steps"] != "2" {
		t.Errorf("%v", post.Attrs)
	}
}

// Files of others: any order of columns, gaps, brackets, missing statistics.
func TestForeignColumns(t *testing.T) {
	c, err := stancsv.Read(strings.NewReader("x.2,x.1,y.1,y.3,z[1],\"z[2]\",\"m[1,1]\",\"m[2,1]\",w.1,w.1.1,v,v.1,tau,treedepth__,strange__\n1,2,3,4,5,6,7,8,9,10,11,12,13,2.5,1\n"), "f")
	must(t, err)
	got, err := stancsv.Tree([]*stancsv.Chain{c})
	must(t, err)
	post, err := got.Group("posterior")
	must(t, err)
	var names []string
	for _, v := range post.Vars() {
		names = append(names, v.Name)
	}
	if !slices.Equal(names, []string{"x", "y.1", "y.3", "z", "m", "w.1", "w.1.1", "v", "v.1", "tau"}) {
		t.Errorf("variables %v", names)
	}
	if x := post.Var("x"); !reflect.DeepEqual(x.Data, []float64{2, 1}) || !post.Var("z").Shape.Equal(tensor.Shape{1, 1, 2}) || !post.Var("m").Shape.Equal(tensor.Shape{1, 1, 2, 1}) {
		t.Errorf("%v", post)
	}
	stats, err := got.Group("sample_stats")
	must(t, err)
	if stats.Var("tree_depth").DType() != "float64" || stats.Var("strange") == nil {
		t.Errorf("%v", stats)
	}
	short := *c
	short.Draws = nil
	if got, err := stancsv.Tree([]*stancsv.Chain{c, &short}); err != nil || got.Groups()[0].Len("draw") != 0 {
		t.Errorf("an empty chain: %v", err)
	}
	other := &stancsv.Chain{Columns: []string{"a"}}
	for want, f := range map[string]func() error{
		"no chains": func() error { _, err := stancsv.Tree(nil); return err },
		"chain 2 has 1, and of the latter it lacks the column": func() error { _, err := stancsv.Tree([]*stancsv.Chain{c, other}); return err },
		"no group": func() error { _, err := stancsv.Chains(tensor.NewDataTree()); return err },
		"no axes chain": func() error {
			empty := tensor.NewDataTree()
			must(t, empty.Add(tensor.NewDataset("posterior")))
			_, err := stancsv.Chains(empty)
			return err
		},
		"no columns":     func() error { return (&stancsv.Chain{}).Write(&bytes.Buffer{}) },
		"without commas": func() error { return (&stancsv.Chain{Columns: []string{"a,b"}}).Write(&bytes.Buffer{}) },
		"want one line of plain": func() error {
			return (&stancsv.Chain{Columns: []string{"a"}, Settings: map[string]string{"x": "1\n2"}}).Write(&bytes.Buffer{})
		},
		"row 1 has": func() error {
			return (&stancsv.Chain{Columns: []string{"a"}, Draws: [][]float64{{1, 2}}}).Write(&bytes.Buffer{})
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestDenseMetric(t *testing.T) {
	c := &stancsv.Chain{Columns: []string{"a"}, Draws: [][]float64{{1}}, Adapted: &stancsv.Adaptation{StepSize: 1, InvMetric: [][]float64{{1, 0.5}, {0.5, 2}}}}
	out := text(t, c)
	back, err := stancsv.Read(strings.NewReader(out), "x")
	if err != nil || !reflect.DeepEqual(back.Adapted, c.Adapted) || !strings.Contains(out, "metric = dense_e") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out")
	chains, err := stancsv.Chains(tree(t))
	must(t, err)
	many := slices.Repeat(chains, 6)
	many[10] = &stancsv.Chain{Columns: []string{"eleventh"}}
	must(t, stancsv.WriteFolder(name, many, false))
	back, err := stancsv.OpenFolder(name)
	if err != nil || len(back) != 12 || back[10].Columns[0] != "eleventh" {
		t.Errorf("%v %d", err, len(back))
	}
	if err := stancsv.WriteFolder(name, chains, false); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	must(t, stancsv.WriteFolder(name, chains, true))
	if back, err = stancsv.OpenFolder(name); err != nil || len(back) != 2 {
		t.Errorf("%v %d", err, len(back))
	}
	must(t, os.WriteFile(filepath.Join(name, "precious"), nil, 0o644))
	if err := stancsv.WriteFolder(name, chains, true); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
}

const fromCSV = `
import sys
from glob import glob
import numpy as np, cmdstanpy, arviz as az
files = sorted(glob(sys.argv[1] + "/chain-*.csv"))
fit = cmdstanpy.from_csv(files)
assert fit.chains == 2 and fit.num_draws_warmup == 2 and fit.num_draws_sampling == 3, fit
L = fit.stan_variable("L")
assert L.shape == (6, 2, 2), L.shape
print(L[3].tolist(), fit.step_size.tolist(), fit.inv_metric.tolist())
if hasattr(az, "from_cmdstan"):
    d = az.from_cmdstan(files, save_warmup=True)
    assert d.posterior["L"].values[1, 0].tolist() == [[30.0, 31.0], [32.0, 33.0]], d.posterior["L"].values
    assert d.sample_stats["n_steps"].values.tolist() == [[1, 3, 5], [7, 9, 11]]
    assert d.warmup_posterior["mu"].shape == (2, 2)
`

func TestStanToolsOpenOurs(t *testing.T) {
	py := peer.Python(t, "cmdstanpy", "arviz")
	name := filepath.Join(t.TempDir(), "out")
	chains, err := stancsv.Chains(tree(t))
	must(t, err)
	must(t, stancsv.WriteFolder(name+"0", chains, false)) // as they come from a tree
	py.Run(t, "import sys, cmdstanpy\nf = cmdstanpy.from_csv(sys.argv[1] + '/*.csv')\nassert f.draws(inc_warmup=True).shape == (5, 2, 12), f.draws().shape", name+"0")
	for _, c := range chains {
		c.Adapted = &stancsv.Adaptation{StepSize: 0.25, InvMetric: [][]float64{{1, 2.5, 3, 4, 5}}}
		c.Elapsed = &stancsv.Elapsed{Warmup: 0.5, Sampling: 1.25}
	}
	must(t, stancsv.WriteFolder(name, chains, false))
	out := strings.TrimSpace(py.Run(t, fromCSV, name))
	if out != "[[30.0, 31.0], [32.0, 33.0]] [0.25, 0.25] [[1.0, 2.5, 3.0, 4.0, 5.0], [1.0, 2.5, 3.0, 4.0, 5.0]]" {
		t.Errorf("cmdstanpy found %s", out)
	}
}
