// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package netcdf_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/dict"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/tensor"
)

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// sample is a tree with everything that there is, in the order of names.
func sample(t testing.TB) *tensor.DataTree {
	t.Helper()
	tree := tensor.NewDataTree()
	tree.Attrs["title"] = "two groups"
	post := tensor.NewDataset("posterior")
	theta := make([]float64, 2*5*3)
	for i := range theta {
		theta[i] = math.Sqrt(float64(i)) - 2
	}
	theta[3], theta[4], theta[5] = math.NaN(), math.Inf(1), math.Inf(-1)
	post.Attrs["inference_library"] = "euryale"
	must(t, post.AddCoord("chain", []int{0, 1}), post.AddCoord("draw", []int{0, 1, 2, 3, 4}), post.AddCoord("school", []string{"Choate", "Größe", "日本"}),
		post.AddCoordVariable(tensor.Variable{Name: "size", Dims: []string{"school"}, Shape: tensor.Shape{3}, Data: []int64{7, 8, 9}}),
		post.Add("mu", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, tensor.Shape{2, 5}, "chain", "draw"),
		post.AddVariable(tensor.Variable{Name: "theta", Dims: []string{"chain", "draw", "school"}, Shape: tensor.Shape{2, 5, 3}, Data: theta, Attrs: map[string]string{"units": "points"}}))
	stats := tensor.NewDataset("sample_stats")
	must(t, stats.Add("diverging", []bool{false, true, false, false, true, false, false, false, true, true}, tensor.Shape{2, 5}, "chain", "draw"),
		stats.Add("n_steps", []int{1, 3, 7, 15, -1, math.MaxInt64, math.MinInt64, 0, 1, 2}, tensor.Shape{2, 5}, "chain", "draw"),
		stats.Add("scalar", []float64{math.Pi}, tensor.Shape{}),
		stats.Add("words", []string{"", "ab"}, tensor.Shape{2}, "word"))
	must(t, tree.Add(post), tree.Add(stats))
	return tree
}

func write(t testing.TB, tree *tensor.DataTree, s netcdf.Settings) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.nc")
	must(t, netcdf.Write(name, tree, s))
	return name
}

func TestRoundTrip(t *testing.T) {
	for _, s := range []netcdf.Settings{{}, {Gzip: 5}} {
		want := sample(t)
		must(t, want.Add(tensor.NewDataset("observed_data")), want.Add(tensor.NewDataset("zzz"))) // the order of ArviZ, not of names
		got, err := netcdf.Open(write(t, want, s))
		must(t, err)
		if got.String() != want.String() {
			t.Errorf("got\n%v\nwant\n%v", got, want)
		}
		for i, w := range want.Groups() {
			g := got.Groups()[i]
			for k, v := range append(append([]tensor.Variable{}, w.Coords()...), w.Vars()...) {
				u := append(append([]tensor.Variable{}, g.Coords()...), g.Vars()...)[k]
				for j := range v.Len() {
					if u.Text(j) != v.Text(j) || v.DType() == "float64" && math.Float64bits(u.Floats()[j]) != math.Float64bits(v.Floats()[j]) {
						t.Errorf("%s/%s[%d] is %s, want %s", w.Name, v.Name, j, u.Text(j), v.Text(j))
					}
				}
			}
		}
	}
}

// Axes of length 0 have no elements but keep their place.
func TestEmptyAxes(t *testing.T) {
	tree := tensor.NewDataTree()
	d := tensor.NewDataset("g")
	must(t, d.AddCoord("none", []int{}), d.Add("x", []float64{}, tensor.Shape{0, 4}, "none", "four"), tree.Add(d))
	got, err := netcdf.Open(write(t, tree, netcdf.Settings{Gzip: 1}))
	must(t, err)
	if got.String() != tree.String() {
		t.Errorf("got\n%v\nwant\n%v", got, tree)
	}
}

// The layout that xarray was seen to open; it is the smallest one, so the names of its
// variables and axes belong to it.
func TestMinimalGolden(t *testing.T) {
	golden.Each(t, "inference/inferencedata/*.nc", minimalGolden)
}

func minimalGolden(t *testing.T, file string) {
	tree, err := netcdf.Open(golden.Path(t, file))
	must(t, err)
	dict.Compare(t, tree)
	// Ours has what is needed of that layout: axes are scales, whose order is kept, and truth values are small integers.
	f, err := hdf5.Open(write(t, tree, netcdf.Settings{}))
	must(t, err)
	defer f.Close()
	for _, g := range tree.Groups() {
		class, err := f.Attr("/"+g.Name+"/chain", "CLASS")
		must(t, err)
		if class.Type().Class != hdf5.String || class.Type().Size != 16 {
			t.Errorf("CLASS is %v, want 16 bytes", class.Type())
		}
		for _, v := range g.Vars() {
			path := "/" + g.Name + "/" + v.Name
			list, err := f.Attr(path, "DIMENSION_LIST")
			must(t, err)
			refs, err := list.ReferenceLists()
			if err != nil || len(refs) != len(v.Dims) {
				t.Errorf("%s: DIMENSION_LIST %v, %v", path, refs, err)
				continue
			}
			for k, name := range v.Dims {
				if refs[k][0].Path != "/"+g.Name+"/"+name {
					t.Errorf("%s: axis %d is %s, want %s", path, k, refs[k][0].Path, name)
				}
			}
			d, err := f.Dataset(path)
			must(t, err)
			if v.DType() == "bool" && d.Type().String() != "int8" {
				t.Errorf("%s: truth values are %v", path, d.Type())
			}
		}
	}
}

// made makes a file with the low-level writer.
func made(t testing.TB, f func(w *hdf5.Writer)) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "m.nc")
	w, err := hdf5.Create(name)
	must(t, err)
	f(w)
	must(t, w.Close())
	return name
}

func TestForeignFiles(t *testing.T) {
	tree, err := netcdf.Open(made(t, func(w *hdf5.Writer) {
		w.Write("/school", []string{"a", "b"}, hdf5.Layout{FixedString: 4})
		w.Scale("/school", "school")
		w.Write("/posterior/mu", []float32{1.5, 9}, hdf5.Layout{})
		w.Attach("/posterior/mu", 0, "/school")
		w.Attr("/posterior/mu", "_FillValue", float32(9))
		w.Attr("/posterior/mu", "scale", []float64{0.5, 2})
		w.Write("/posterior/n", []int16{1, -9}, hdf5.Layout{})
		w.Attr("/posterior/n", "_FillValue", int16(-9))
		w.Write("/posterior/flag", []bool{true, false}, hdf5.Layout{})
		w.Write("/posterior/k", []uint8{200}, hdf5.Layout{})
		w.Attr("/posterior", "level", int32(3))
		w.Attr("/posterior", "_NCProperties", "version=2")
	}))
	must(t, err)
	d, err := tree.Group("posterior")
	must(t, err)
	mu, n := d.Var("mu"), d.Var("n")
	if len(tree.Groups()) != 1 || mu.Dims[0] != "school" || mu.Text(1) != "NaN" || mu.Text(0) != "1.5" || mu.Attrs["scale"] != "0.5, 2" || n.DType() != "float64" || n.Text(1) != "NaN" ||
		n.Dims[0] != "n_dim_0" || d.Var("flag").DType() != "bool" || d.Var("k").Text(0) != "200" || d.Attrs["level"] != "3" || d.Attrs["_NCProperties"] != "" || d.Coord("school").Text(1) != "b" {
		t.Errorf("%v %v", tree, mu)
	}
	tree, err = netcdf.Open(made(t, func(w *hdf5.Writer) {
		w.Write("/x", []float64{1}, hdf5.Layout{})
		w.Write("/g/y", []float64{1}, hdf5.Layout{})
	}))
	if err != nil || len(tree.Groups()) != 2 || tree.Groups()[0].Name != "root" {
		t.Errorf("%v %v", tree, err)
	}
	for want, f := range map[string]func(w *hdf5.Writer){
		"a group inside a group": func(w *hdf5.Writer) { w.Write("/a/b/c", 1.0, hdf5.Layout{}) },
		"complex128":             func(w *hdf5.Writer) { w.Write("/a/c", []complex128{1}, hdf5.Layout{}) },
		"DIMENSION_LIST": func(w *hdf5.Writer) {
			w.Write("/a/c", []float64{1}, hdf5.Layout{})
			w.Attr("/a/c", "DIMENSION_LIST", 1.0)
		},
		"/a/nowhere": func(w *hdf5.Writer) { w.SoftLink("/a/nowhere", "/b") },
		"length 2 here and 1": func(w *hdf5.Writer) { // a scale attached to an axis of another length
			w.Write("/a/d", []float64{1}, hdf5.Layout{})
			w.Scale("/a/d", "d")
			w.Write("/a/x", []float64{1, 2}, hdf5.Layout{})
			w.Attach("/a/x", 0, "/a/d")
		},
	} {
		_, err := netcdf.Open(made(t, f))
		var e *netcdf.FormatError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Files that xarray 2026.9 wrote through netCDF 4.9 (netCDF4 1.7.5) and h5netcdf
// 1.8.2: creation order, dense groups, compression.
func TestLibrariesGoldens(t *testing.T) {
	for _, engine := range []string{"netcdf4", "h5netcdf"} {
		tree, err := netcdf.Open(filepath.Join("testdata", engine+".nc"))
		must(t, err)
		post, err := tree.Group("posterior")
		must(t, err)
		stats, err := tree.Group("sample_stats")
		must(t, err)
		theta := post.Var("theta")
		for i, v := range theta.Floats() {
			if v != float64(i)/8 {
				t.Errorf("%s: element %d is %v", engine, i, v)
			}
		}
		if !reflect.DeepEqual(theta.Dims, []string{"chain", "draw", "school"}) || post.Coord("size").Text(1) != "2" || post.Coord("school").Text(1) != "bb" || post.Attrs["n"] != "3" ||
			!reflect.DeepEqual(stats.Var("diverging").Data, []bool{true, false, false, true, false, false}) || post.Stat("mu")[1][2] != 1.25 {
			t.Errorf("%s: %v", engine, tree)
		}
	}
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		p := filepath.Join(dir, name)
		must(t, os.WriteFile(p, []byte(text), 0o644))
		return p
	}
	for want, name := range map[string]string{"header of the netCDF file is damaged": put("classic.nc", "CDF\x01\x00\x00\x00\x00"), "of the version 7": put("seven.nc", "CDF\x07\x00\x00\x00\x00"), "cannot be read": put("text.nc", "hello, this is text"), "is a folder": dir} {
		if _, err := netcdf.Open(name); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := netcdf.Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	name := write(t, sample(t), netcdf.Settings{})
	if err := netcdf.Write(name, sample(t), netcdf.Settings{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("written over: %v", err)
	}
	must(t, netcdf.Write(name, tensor.NewDataTree(), netcdf.Settings{Overwrite: true}))
	if err := netcdf.Write(name, sample(t), netcdf.Settings{Gzip: 10}); err == nil {
		t.Error("compression 10")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(name), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// broken is a disk that fails after a number of reads.
type broken struct {
	r    io.ReaderAt
	left int
}

func (b *broken) ReadAt(p []byte, at int64) (int, error) {
	if b.left--; b.left < 0 {
		return 0, errors.New("the disk is gone")
	}
	return b.r.ReadAt(p, at)
}

// A disk that fails during any read is an error: nobody takes part of a file for all of it.
func TestDiskThatFails(t *testing.T) {
	for _, name := range []string{write(t, sample(t), netcdf.Settings{}), "testdata/netcdf4.nc", "testdata/h5netcdf.nc"} {
		b, err := os.ReadFile(name)
		must(t, err)
		for k := 0; ; k++ {
			disk := &broken{bytes.NewReader(b), k}
			_, err := netcdf.Read(disk, int64(len(b)), "f")
			if disk.left >= 0 {
				must(t, err)
				break
			}
			if err == nil {
				t.Errorf("%s: no error after %d reads", name, k)
			}
		}
	}
}

// Files cut off or changed end in errors or other numbers, not in panics.
func TestDamagedFiles(t *testing.T) {
	b, err := os.ReadFile(write(t, sample(t), netcdf.Settings{}))
	must(t, err)
	for n := 0; n < len(b); n += 211 {
		netcdf.Read(bytes.NewReader(b[:n]), int64(n), "cut")
	}
	r := rand.New(rand.NewPCG(5, 5))
	for range 1500 {
		c := bytes.Clone(b)
		for range 1 + r.IntN(4) {
			c[r.IntN(len(c))] = []byte{0, 1, 255, byte(r.Uint32())}[r.IntN(4)]
		}
		if tree, err := netcdf.Read(bytes.NewReader(c), int64(len(c)), "changed"); err == nil {
			_ = tree.String()
		}
	}
}

func FuzzRead(f *testing.F) {
	b, err := os.ReadFile(write(f, sample(f), netcdf.Settings{}))
	must(f, err)
	f.Add(b)
	for _, engine := range []string{"netcdf4", "h5netcdf"} {
		b, err := os.ReadFile(filepath.Join("testdata", engine+".nc"))
		must(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if tree, err := netcdf.Read(bytes.NewReader(b), int64(len(b)), "f"); err == nil {
			_ = tree.String()
		}
	})
}

func TestXarrayOpensOurs(t *testing.T) {
	py := peer.Python(t, "xarray", "netCDF4", "h5netcdf")
	tree := sample(t)
	for _, s := range []netcdf.Settings{{}, {Gzip: 4}} {
		name := write(t, tree, s)
		py.Compare(t, "netcdf4", name, tree)
		py.Compare(t, "h5netcdf", name, tree)
	}
}

const writeByXarray = `
import sys, numpy as np, xarray as xr
rng = np.random.default_rng(1)
post = xr.Dataset({"mu": (("chain", "draw"), rng.normal(size=(4, 10))), "theta": (("chain", "draw", "school"), np.arange(120).reshape(4, 10, 3) / 8)},
    coords={"chain": np.arange(4), "draw": np.arange(10), "school": ["a", "bb", "ccc"], "size": ("school", [1, 2, 3])}, attrs={"creation_library": "xarray", "n": 3})
post["mu"].values[0, 0] = np.nan
stats = xr.Dataset({"diverging": (("chain", "draw"), np.arange(40).reshape(4, 10) % 3 == 0), "n": (("chain", "draw"), np.arange(40).reshape(4, 10)), "single": ((), np.float32(1.5))})
for engine in ("netcdf4", "h5netcdf"):
    for how, enc in {"plain": {}, "packed": {"theta": {"zlib": True, "complevel": 4, "shuffle": True}}}.items():
        p = sys.argv[1] + "/" + engine + "-" + how + ".nc"
        post.to_netcdf(p, group="posterior", engine=engine, encoding=enc)
        stats.to_netcdf(p, group="sample_stats", engine=engine, mode="a")
xr.DataTree.from_dict({"posterior": post, "sample_stats": stats}).to_netcdf(sys.argv[1] + "/tree.nc")
`

func TestWeOpenXarrays(t *testing.T) {
	py := peer.Python(t, "xarray", "netCDF4", "h5netcdf")
	dir := t.TempDir()
	py.Run(t, writeByXarray, dir)
	files, err := filepath.Glob(filepath.Join(dir, "*.nc"))
	if err != nil || len(files) != 5 {
		t.Fatalf("%v %v", files, err)
	}
	for _, name := range files {
		tree, err := netcdf.Open(name)
		if err != nil {
			t.Error(err)
			continue
		}
		post, err := tree.Group("posterior")
		must(t, err)
		stats, err := tree.Group("sample_stats")
		must(t, err)
		if post.Coord("size") == nil || post.Coord("school").Text(2) != "ccc" || post.Var("mu").Text(0) != "NaN" || post.Attrs["creation_library"] != "xarray" || post.Attrs["n"] != "3" ||
			stats.Var("diverging").DType() != "bool" || stats.Var("n").DType() != "int64" || stats.Var("single").Text(0) != "1.5" || !reflect.DeepEqual(stats.Var("n").Dims, []string{"chain", "draw"}) {
			t.Errorf("%s: %v", name, tree)
		}
		for i, v := range post.Var("theta").Floats() {
			if v != float64(i)/8 || stats.Var("diverging").Data.([]bool)[i/3] != (i/3%3 == 0) {
				t.Fatalf("%s: element %d is %v", name, i, v)
			}
		}
	}
}

// Variables are read in the order in which they were written, although HDF5 sorts them by name.
func TestOrderOfVariables(t *testing.T) {
	tree, d := tensor.NewDataTree(), tensor.NewDataset("posterior")
	d.Attrs = map[string]string{"model_name": "m"}
	for _, name := range []string{"tau", "contrast", "baseline"} {
		if err := d.Add(name, []float64{1, 2}, tensor.Shape{1, 2}, "chain", "draw"); err != nil {
			t.Fatal(err)
		}
	}
	if err := tree.Add(d); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.nc")
	if err := netcdf.Write(file, tree, netcdf.Settings{}); err != nil {
		t.Fatal(err)
	}
	back, err := netcdf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	g, err := back.Group("posterior")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range g.Vars() {
		names = append(names, v.Name)
	}
	if strings.Join(names, " ") != "tau contrast baseline" || len(g.Attrs) != 1 {
		t.Errorf("the variables are %v, the attributes %v", names, g.Attrs)
	}
}
