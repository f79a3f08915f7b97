// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package idata_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/idata"
	"github.com/euryale-dev/euryale/internal/golden"
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

func sample(t *testing.T) *tensor.DataTree {
	t.Helper()
	tree := tensor.NewDataTree()
	tree.Attrs["title"] = "a \"run\""
	post, stats, data := tensor.NewDataset("posterior"), tensor.NewDataset("sample_stats"), tensor.NewDataset("observed_data")
	post.Attrs["inference_library"] = "euryale"
	must(t, post.AddCoord("chain", []int{0, 1}), post.AddCoord("draw", []int{0, 1}), post.AddCoord("school", []string{"a", "ß\n"}),
		post.Add("theta", []float64{1, -0.5, 1e-300, math.NaN(), math.Inf(1), math.Inf(-1), 1e22, 0.1}, tensor.Shape{2, 2, 2}, "chain", "draw", "school"),
		post.Add("mu", []float64{1, 2, 3, 4}, tensor.Shape{2, 2}, "chain", "draw"),
		stats.AddCoord("chain", []int{0, 1}), stats.AddCoord("draw", []int{0, 1}),
		stats.Add("diverging", []bool{true, false, false, true}, tensor.Shape{2, 2}, "chain", "draw"),
		stats.Add("n", []int{1, -2, math.MaxInt64, 4}, tensor.Shape{2, 2}, "chain", "draw"),
		data.Add("y", []float64{0.25}, tensor.Shape{1}, "y_dim_0"), data.Add("who", []string{"x", "NaN"}, tensor.Shape{2}, "who_dim_0"), data.Add("n", []int{3}, tensor.Shape{}),
		tree.Add(post), tree.Add(stats), tree.Add(data))
	return tree
}

func encode(t *testing.T, tree *tensor.DataTree, s idata.Settings) string {
	t.Helper()
	var b bytes.Buffer
	must(t, idata.Encode(&b, tree, s))
	return b.String()
}

func TestRoundTrip(t *testing.T) {
	tree := sample(t)
	for _, s := range []idata.Settings{{Labels: true}, {Labels: true, Strict: true}} {
		got, err := idata.Read(strings.NewReader(encode(t, tree, s)), "x")
		must(t, err)
		if got.String() != tree.String() || encode(t, got, s) != encode(t, tree, s) {
			t.Errorf("%+v: got\n%v\nwant\n%v", s, got, tree)
		}
	}
	// Without labels the axes have ArviZ's names.
	got, err := idata.Read(strings.NewReader("\ufeff"+encode(t, tree, idata.Settings{})), "x") // marked, as on Windows
	must(t, err)
	post, err := got.Group("posterior")
	must(t, err)
	if v := post.Var("theta"); !reflect.DeepEqual(v.Dims, []string{"chain", "draw", "theta_dim_0"}) || post.Coord("draw").Len() != 2 || v.Text(3) != "NaN" || v.Text(5) != "-Inf" {
		t.Errorf("%v", post)
	}
	var doc map[string]map[string]any
	must(t, json.Unmarshal([]byte(encode(t, tree, idata.Settings{Strict: true})), &doc))
	if doc["posterior"]["theta"].([]any)[0].([]any)[1].([]any)[1] != "NaN" || doc["sample_stats"]["n"].([]any)[0].([]any)[1] != -2.0 {
		t.Errorf("%v", doc)
	}
	empty := encode(t, tensor.NewDataTree(), idata.Settings{Labels: true, Strict: true})
	if back, err := idata.Read(strings.NewReader(empty), "x"); err != nil || !json.Valid([]byte(empty)) || len(back.Groups()) != 0 {
		t.Errorf("empty tree: %q, %v", empty, err)
	}
}

func TestGolden(t *testing.T) {
	golden.Each(t, "inference/inferencedata/*.json", testGolden)
}

func testGolden(t *testing.T, file string) {
	tree, err := idata.Open(golden.Path(t, file))
	must(t, err)
	var want map[string]map[string]any
	golden.JSON(t, &want, file)
	for _, d := range tree.Groups() {
		for _, v := range d.Vars() {
			if !reflect.DeepEqual(nested(v), want[d.Name][v.Name]) {
				t.Errorf("%s/%s is %v", d.Name, v.Name, v)
			}
		}
		if len(d.Vars()) != len(want[d.Name]) {
			t.Errorf("%v", d)
		}
	}
	if len(tree.Groups()) != len(want) {
		t.Errorf("%v", tree)
	}
	var again map[string]map[string]any
	must(t, json.Unmarshal([]byte(encode(t, tree, idata.Settings{})), &again))
	if !reflect.DeepEqual(again, want) {
		t.Error("written again it differs")
	}
}

// nested makes of an array what encoding/json reads.
func nested(v tensor.Variable) any {
	at := 0
	var axis func(depth int) any
	axis = func(depth int) any {
		if depth == len(v.Shape) {
			at++
			switch d := v.Data.(type) {
			case []float64:
				return d[at-1]
			case []int64:
				return float64(d[at-1])
			case []bool:
				return d[at-1]
			}
			return v.Text(at - 1)
		}
		out := []any{}
		for range v.Shape[depth] {
			out = append(out, axis(depth+1))
		}
		return out
	}
	return axis(0)
}

func TestKinds(t *testing.T) {
	for text, want := range map[string]any{
		`[1, 2]`:                 []int64{1, 2},
		`[1, 2.0]`:               []float64{1, 2},
		`[1, null, "Infinity"]`:  []float64{1, math.NaN(), math.Inf(1)},
		`["NaN", "-Inf"]`:        []float64{math.NaN(), math.Inf(-1)},
		`["NaN", 3]`:             []float64{math.NaN(), 3},
		`["NaN", "x"]`:           []string{"NaN", "x"},
		`["x", "NaN"]`:           []string{"x", "NaN"},
		`[true, false]`:          []bool{true, false},
		`[]`:                     []float64{},
		`[1e400, -1e400]`:        []float64{math.Inf(1), math.Inf(-1)},
		`[9223372036854775808]`:  []float64{9223372036854775808},
		`[-Infinity, NaN]`:       []float64{math.Inf(-1), math.NaN()},
		`["\u00e9"]`:             []string{"é"},
		"[\n1 ,\t2\r]":           []int64{1, 2},
		`3`:                      []int64{3},
		`[9007199254740993, -1]`: []int64{9007199254740993, -1},
	} {
		tree, err := idata.Read(strings.NewReader(`{"observed_data": {"x": `+text+`}}`), "f")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := tree.Groups()[0].Var("x").Data
		if f, ok := want.([]float64); ok {
			g, same := got.([]float64)
			for i := range f {
				same = same && len(f) == len(g) && (f[i] == g[i] || f[i] != f[i] && g[i] != g[i])
			}
			if !same {
				t.Errorf("%s: %v, want %v", text, got, want)
			}
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestBadFiles(t *testing.T) {
	deep := strings.Repeat("[", 100)
	for text, want := range map[string]string{
		"":                                     "found the end of the file, want an object",
		"[1]":                                  "want an object",
		`{"a": {"x": [1, 2}}`:                  "want a comma",
		`{"a": {"x": [[1], 2]}}`:               "depth 1, but the first one is at depth 2",
		`{"a": {"x": [1, [2]]}}`:               "equal depth",
		`{"a": {"x": [[1], [2, 3]]}}`:          "want lists of equal lengths",
		`{"a": {"x": [[], [2]]}}`:              "want lists of equal lengths",
		`{"a": {"x": [1, true]}}`:              "want one kind",
		`{"a": {"x": ["b", 1]}}`:               "want one kind",
		`{"a": {"x": [0x10]}}`:                 `found "0x10"`,
		`{"a": {"x": [+1]}}`:                   `found "+1"`,
		`{"a": {"x": [1_0]}}`:                  `found "1_0"`,
		`{"a": {"x": [nope]}}`:                 `found "nope"`,
		`{"a": {"x": 1, "x": 2}}`:              "appears twice",
		`{"a": {"x": "y}}`:                     "has no end",
		`{"a": {"x": "\q"}}`:                   "string",
		`{"a": {"x": 1}} 5`:                    "after the end of the object",
		`{"a": {"x": ` + deep + `}}`:           "at most 70",
		`{"b": ` + deep + `}`:                  "more than 70 levels deep",
		`{"a": {"x/y": [1]}}`:                  "do not fit together",
		`{"p": {"x": [[1]], "y": [[1], [2]]}}`: "length 2 here and 1",
		`{"a" 1}`:                              "want a colon",
		`{"a": 1 "b": 2}`:                      "want a comma",
		`{1: 2}`:                               "want a string",
	} {
		_, err := idata.Read(strings.NewReader(text), "f.json")
		var e *idata.FormatError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "idata: f.json") {
			t.Errorf("%.40s: %v, want %q", text, err, want)
		}
	}
	if _, err := idata.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestWrite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.json")
	must(t, idata.Write(name, sample(t), idata.Settings{}))
	if err := idata.Write(name, sample(t), idata.Settings{}); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	must(t, idata.Write(name, tensor.NewDataTree(), idata.Settings{Overwrite: true}))
	if tree, err := idata.Open(name); err != nil || len(tree.Groups()) != 0 {
		t.Errorf("%v %v", tree, err)
	}
}

const fromDict = `
import json, sys, arviz as az, numpy as np
groups = {g: {k: np.array(x) for k, x in v.items()} for g, v in json.load(open(sys.argv[1])).items()}
major = int(az.__version__.split(".")[0])
d = az.from_dict(groups) if major else az.from_dict(**groups)
print(d["posterior"]["theta"].values.ravel().tolist())
if not major:
    f = az.from_json(sys.argv[2])
    assert list(f.posterior["school"].values) == ["a", "ß\n"], f.posterior
    assert f.posterior["theta"].dims == ("chain", "draw", "school")
    assert f.posterior.attrs["inference_library"] == "euryale", f.posterior.attrs
    assert f.observed_data["y"].values.tolist() == [0.25]
    f.posterior["theta"].values[0, 0, 0] = np.nan
    f.to_json(sys.argv[3])
`

func TestArviZOpensOurs(t *testing.T) {
	py := peer.Python(t, "arviz")
	dir := t.TempDir()
	plain, labels, theirs := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json"), filepath.Join(dir, "c.json")
	must(t, idata.Write(plain, sample(t), idata.Settings{}), idata.Write(labels, sample(t), idata.Settings{Labels: true}))
	out := strings.TrimSpace(py.Run(t, fromDict, plain, labels, theirs))
	if out != "[1.0, -0.5, 1e-300, nan, inf, -inf, 1e+22, 0.1]" {
		t.Errorf("ArviZ found %s", out)
	}
	if tree, err := idata.Open(theirs); !errors.Is(err, fs.ErrNotExist) {
		must(t, err)
		post, err := tree.Group("posterior")
		must(t, err)
		if post.Var("theta").Text(0) != "NaN" || post.Coord("school").Text(1) != "ß\n" || post.Attrs["inference_library"] != "euryale" {
			t.Errorf("%v", tree)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"posterior": {"mu": [[0.1, NaN], ["Infinity", 2]], "s": [["a"]]}, "posterior_attrs": {"a": {"b": [1, "x", null]}}, "coords": {"d": [1]}, "dims": {"mu": ["d"]}}`))
	f.Add([]byte(`{"a":{"x":[[],[]],"y":[true]},"save_warmup":false}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tree, err := idata.Read(bytes.NewReader(b), "f")
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := idata.Encode(&out, tree, idata.Settings{}); err != nil {
			t.Fatal(err)
		}
		if _, err := idata.Read(&out, "again"); err != nil {
			t.Fatalf("%v of %s", err, out.String())
		}
	})
}
