// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package peer runs Python's readers on files that we write. Tests that use it are skipped, with a
// message, if there is no Python with the modules they need. make test-tools lists these modules,
// make peers installs them in .peers, and $EURYALE_PYTHON names another Python.
//
//	py := peer.Python(t, "xarray", "zarr")
//	out := py.Run(t, script, "run.zarr")
package peer

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// Interpreter is a Python that has the requested modules.
type Interpreter struct{ path string }

// Python finds an interpreter that can import the modules and logs their versions, or skips the
// test.
func Python(t testing.TB, modules ...string) Interpreter {
	t.Helper()
	p := Interpreter{os.Getenv("EURYALE_PYTHON")}
	if p.path == "" {
		p.path = filepath.Join(root(t), ".peers", "bin", "python")
	}
	if _, err := exec.LookPath(p.path); err != nil {
		t.Skipf("lacks Python with %v: run make peers, or set EURYALE_PYTHON", modules)
	}
	script := "import sys, importlib\nfor m in sys.argv[1:]:\n    k = importlib.import_module(m)\n    print(m, getattr(k, '__version__', '?'))"
	out, err := exec.Command(p.path, append([]string{"-W", "ignore", "-c", script}, modules...)...).CombinedOutput()
	if err != nil {
		t.Skipf("lacks one of Python's %v: run make peers (%s: %s)", modules, p.path, out)
	}
	t.Logf("peer: %s", strings.Join(strings.Fields(string(out)), " "))
	return p
}

func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("peer: no go.mod above the test")
		}
		dir = up
	}
}

// Run runs a script with arguments and returns its standard output; an error of the script makes the
// test fail.
func (p Interpreter) Run(t testing.TB, script string, args ...string) string {
	t.Helper()
	cmd := exec.Command(p.path, append([]string{"-W", "ignore", "-c", script}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("peer: %v\n%s%s", err, out, stderr.String())
	}
	return string(out)
}

// compare opens every group with xarray and compares it with the expected content. Arguments: how to
// open, the file, the file of what is expected.
const compare = `
import json, math, sys
import numpy as np, xarray as xr
how, name, want = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
for group, content in want.items():
    if how == "zarr":
        ds = xr.open_zarr(name, group=group)
    else:
        ds = xr.open_dataset(name, group=group, engine=how)
    for k, v in content["attrs"].items():
        assert ds.attrs[k] == v, (group, k, ds.attrs.get(k), v)
    assert set(ds.data_vars) == {v["name"] for v in content["vars"]}, (group, list(ds.data_vars))
    assert set(ds.coords) == {v["name"] for v in content["coords"]}, (group, list(ds.coords))
    for v in content["vars"] + content["coords"]:
        x = ds[v["name"]]
        assert list(x.dims) == v["dims"], (v["name"], x.dims, v["dims"])
        assert list(x.shape) == v["shape"], (v["name"], x.shape, v["shape"])
        got, kind = x.values, v["dtype"]
        if kind == "string":
            assert got.dtype.kind in "UOT", got.dtype
            got = [str(s) for s in got.ravel()]
        else:
            assert got.dtype == np.dtype(kind), (v["name"], got.dtype, kind)
            got = got.ravel().tolist()
        data = [float(s) for s in v["data"]] if kind == "float64" else v["data"]
        assert len(got) == len(data), (v["name"], len(got), len(data))
        for a, b in zip(got, data):
            assert a == b or (a != a and b != b), (group, v["name"], a, b)
        for k, a in v["attrs"].items():
            assert x.attrs[k] == a, (v["name"], k, x.attrs)
print("same", len(want))
`

// described is a variable in the form that the script reads.
type described struct {
	Name  string            `json:"name"`
	Dims  []string          `json:"dims"`
	Shape []int             `json:"shape"`
	DType string            `json:"dtype"`
	Data  any               `json:"data"`
	Attrs map[string]string `json:"attrs"`
}

// Compare makes the test fail unless xarray finds in a file exactly what the tree holds, to the last
// bit. how is zarr, netcdf4 or h5netcdf.
func (p Interpreter) Compare(t testing.TB, how, name string, tree *tensor.DataTree) {
	t.Helper()
	want := map[string]any{}
	for _, d := range tree.Groups() {
		content := map[string]any{"attrs": nonNil(d.Attrs), "coords": describe(d.Coords()), "vars": describe(d.Vars())}
		want[d.Name] = content
	}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "want.json")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if out := p.Run(t, compare, how, name, file); !strings.HasPrefix(out, "same") {
		t.Errorf("peer: %s", out)
	}
}

func describe(list []tensor.Variable) []described {
	out := []described{}
	for _, v := range list {
		data := v.Data
		if f, ok := data.([]float64); ok {
			data = texts(f)
		}
		out = append(out, described{v.Name, append([]string{}, v.Dims...), append([]int{}, v.Shape...), v.DType(), data, nonNil(v.Attrs)})
	}
	return out
}

func nonNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// texts formats numbers so that Python reads the same bits.
func texts(v []float64) []string {
	out := make([]string, len(v))
	for i, x := range v {
		out[i] = strconv.FormatFloat(x, 'g', -1, 64) // NaN, +Inf and -Inf included
	}
	return out
}

// Path returns the program.
func (p Interpreter) Path() string { return p.path }
