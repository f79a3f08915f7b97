// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr_test

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/dict"
	"github.com/euryale-dev/euryale/tensor"
)

// add fails the test on the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// sample is a tree with everything that there is.
func sample(t *testing.T) *tensor.DataTree {
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
		post.AddVariable(tensor.Variable{Name: "theta", Dims: []string{"chain", "draw", "school"}, Shape: tensor.Shape{2, 5, 3}, Data: theta, Attrs: map[string]string{"units": "points"}}),
		post.Add("mu", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, tensor.Shape{2, 5}, "chain", "draw"))
	stats := tensor.NewDataset("sample_stats")
	must(t, stats.Add("diverging", []bool{false, true, false, false, true, false, false, false, true, true}, tensor.Shape{2, 5}, "chain", "draw"),
		stats.Add("n_steps", []int{1, 3, 7, 15, -1, math.MaxInt64, math.MinInt64, 0, 1, 2}, tensor.Shape{2, 5}, "chain", "draw"),
		stats.Add("scalar", []float64{math.Pi}, tensor.Shape{}),
		stats.Add("none", []float64{}, tensor.Shape{0, 4}, "nothing", "four"),
		stats.Add("words", []string{"", "ab"}, tensor.Shape{2}, "word"))
	must(t, tree.Add(post), tree.Add(stats), tree.Add(tensor.NewDataset("empty")))
	return tree
}

// same compares two trees to the last bit.
func same(t *testing.T, got, want *tensor.DataTree) {
	t.Helper()
	if !reflect.DeepEqual(got.Attrs, want.Attrs) || len(got.Groups()) != len(want.Groups()) {
		t.Fatalf("got\n%v\nwant\n%v", got, want)
	}
	for i, w := range want.Groups() {
		g := got.Groups()[i]
		if g.Name != w.Name || !reflect.DeepEqual(g.Attrs, w.Attrs) || len(g.Vars()) != len(w.Vars()) || len(g.Coords()) != len(w.Coords()) {
			t.Fatalf("got\n%v\nwant\n%v", g, w)
		}
		for k, v := range append(append([]tensor.Variable{}, w.Coords()...), w.Vars()...) {
			u := append(append([]tensor.Variable{}, g.Coords()...), g.Vars()...)[k]
			if u.Name != v.Name || !reflect.DeepEqual(u.Dims, append([]string{}, v.Dims...)) || !u.Shape.Equal(v.Shape) || !equal(u.Data, v.Data) || len(u.Attrs) != len(v.Attrs) {
				t.Errorf("got %+v\nwant %+v", u, v)
			}
		}
	}
}

func equal(a, b any) bool {
	x, ok := a.([]float64)
	if !ok {
		return reflect.DeepEqual(a, b)
	}
	y, ok := b.([]float64)
	if !ok || len(x) != len(y) {
		return false
	}
	for i := range x {
		if math.Float64bits(x[i]) != math.Float64bits(y[i]) {
			return false
		}
	}
	return true
}

func TestRoundTrip(t *testing.T) {
	for _, s := range []zarr.Settings{{}, {Zlib: 6}, {ChunkBytes: 40}, {ChunkBytes: 1, Zlib: 1}} {
		name := filepath.Join(t.TempDir(), "a.zarr")
		want := sample(t)
		must(t, zarr.Write(name, want, s))
		got, err := zarr.Open(name)
		must(t, err)
		same(t, got, want)
		left, err := filepath.Glob(filepath.Join(filepath.Dir(name), ".*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
}

// The smallest layout that xarray was seen to open.
func TestMinimalGolden(t *testing.T) {
	golden.Each(t, "inference/inferencedata/*.zarr", minimalGolden)
}

func minimalGolden(t *testing.T, folder string) {
	dir := golden.Path(t, folder)
	tree, err := zarr.Open(dir)
	must(t, err)
	dict.Compare(t, tree)
	// Written again, every metadata file has the same fields and values, but that chunks are in streams with a checksum.
	name := filepath.Join(t.TempDir(), "again.zarr")
	must(t, zarr.Write(name, tree, zarr.Settings{}))
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		a, err := os.ReadFile(p)
		must(t, err)
		b, err := os.ReadFile(filepath.Join(name, rel))
		must(t, err)
		if !strings.HasPrefix(filepath.Base(p), ".z") {
			z, err := zlib.NewReader(bytes.NewReader(b))
			must(t, err)
			if b, err = io.ReadAll(z); err != nil || string(a) != string(b) {
				t.Errorf("chunk %s differs (%v)", rel, err)
			}
			return nil
		}
		b = bytes.ReplaceAll(b, []byte(`{"id":"zlib","level":0}`), []byte("null"))
		var x, y any
		must(t, json.Unmarshal(a, &x), json.Unmarshal(b, &y))
		if !reflect.DeepEqual(x, y) {
			t.Errorf("%s is %s, want %s", rel, b, a)
		}
		return nil
	})
	must(t, err)
}

func TestExistingIsKept(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.zarr")
	must(t, zarr.Write(name, sample(t), zarr.Settings{}))
	if err := zarr.Write(name, sample(t), zarr.Settings{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("written over: %v", err)
	}
	must(t, zarr.Write(name, tensor.NewDataTree(), zarr.Settings{Overwrite: true}))
	if tree, err := zarr.Open(name); err != nil || len(tree.Groups()) != 0 {
		t.Errorf("%v %v", tree, err)
	}
	precious := filepath.Join(dir, "precious")
	must(t, os.Mkdir(precious, 0o755))
	if err := zarr.Write(precious, sample(t), zarr.Settings{Overwrite: true}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a folder that is no store was replaced: %v", err)
	}
	if _, err := zarr.Create(precious, sample(t), zarr.Settings{Overwrite: true}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a folder that is no store was replaced: %v", err)
	}
	if err := zarr.Write(filepath.Join(dir, "b"), sample(t), zarr.Settings{Zlib: 10}); err == nil || !strings.Contains(err.Error(), "Zlib from 0 to 9") {
		t.Error(err)
	}
}

// A store that holds a file of somebody is not replaced, neither whole nor by a stream.
func TestFilesOfOthersStay(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.zarr")
	must(t, zarr.Write(name, sample(t), zarr.Settings{}))
	must(t, zarr.Foreign(name))
	for _, mine := range []string{"notes.txt", "posterior/notes.txt", "posterior/0.0", "mine/0", "posterior/.hidden"} {
		file := filepath.Join(name, mine)
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte("mine"), 0o644))
		var foreign *zarr.ForeignError
		err := zarr.Write(name, sample(t), zarr.Settings{Overwrite: true})
		if !errors.As(err, &foreign) || foreign.File != filepath.FromSlash(mine) || !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: written over: %v", mine, err)
		}
		if _, err := zarr.Create(name, sample(t), zarr.Settings{Overwrite: true}); !errors.As(err, &foreign) {
			t.Errorf("%s: streamed over: %v", mine, err)
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != "mine" {
			t.Errorf("%s: %q, %v", mine, b, err)
		}
		must(t, os.Remove(file))
	}
	must(t, zarr.Write(name, sample(t), zarr.Settings{Overwrite: true}))
}

// store makes a file system of one array x, with changes to its metadata.
func store(change map[string]string, chunks map[string]string) fstest.MapFS {
	meta := map[string]string{"zarr_format": "2", "shape": "[2, 3]", "chunks": "[2, 2]", "dtype": `"<i2"`, "compressor": "null", "fill_value": "7", "order": `"C"`, "filters": "null"}
	for k, v := range change {
		meta[k] = v
	}
	var fields []string
	for k, v := range meta {
		fields = append(fields, `"`+k+`":`+v)
	}
	out := fstest.MapFS{".zgroup": {Data: []byte(`{"zarr_format":2}`)}, "g/.zgroup": {Data: []byte(`{"zarr_format":2}`)}, "g/x/.zarray": {Data: []byte("{" + strings.Join(fields, ",") + "}")}}
	for k, v := range chunks {
		out["g/x/"+k] = &fstest.MapFile{Data: []byte(v)}
	}
	return out
}

func TestForeignStores(t *testing.T) {
	first := "\x01\x00\x02\x00\x03\x00\xff\xff"
	for name, c := range map[string]struct {
		change, chunks map[string]string
		want           any
	}{
		"missing chunk": {nil, map[string]string{"0.0": first}, []int64{1, 2, 7, 3, -1, 7}},
		"nested":        {map[string]string{"dimension_separator": `"/"`}, map[string]string{"0/0": first}, []int64{1, 2, 7, 3, -1, 7}},
		"Fortran":       {map[string]string{"order": `"F"`}, map[string]string{"0.0": first}, []int64{1, 3, 7, 2, -1, 7}},
		"big endian":    {map[string]string{"dtype": `">i2"`}, map[string]string{"0.0": first}, []int64{256, 512, 7, 768, -1, 7}},
		"unsigned":      {map[string]string{"dtype": `"<u2"`}, map[string]string{"0.0": first}, []int64{1, 2, 7, 3, 65535, 7}},
		"truth as int":  {map[string]string{"dtype": `"|i1"`, "fill_value": "0"}, map[string]string{"0.0": "\x01\x00\x00\x01", ".zattrs": `{"dtype":"bool","_ARRAY_DIMENSIONS":["a","b"]}`}, []bool{true, false, false, false, true, false}},
		"float32":       {map[string]string{"dtype": `"<f4"`, "shape": "[1]", "chunks": "[1]", "fill_value": `"-Infinity"`}, map[string]string{"0": "\x00\x00\xc0\x3f"}, []float64{1.5}},
		"fill infinity": {map[string]string{"dtype": `"<f8"`, "shape": "[1]", "chunks": "[1]", "fill_value": `"-Infinity"`}, nil, []float64{math.Inf(-1)}},
		"bytes":         {map[string]string{"dtype": `"|S2"`, "shape": "[2]", "chunks": "[2]", "fill_value": "null"}, map[string]string{"0": "abc\x00"}, []string{"ab", "c"}},
		"objects":       {map[string]string{"dtype": `"|O"`, "shape": "[2]", "chunks": "[2]", "fill_value": "null", "filters": `[{"id":"vlen-utf8"}]`}, map[string]string{"0": "\x02\x00\x00\x00\x02\x00\x00\x00ab\x01\x00\x00\x00c"}, []string{"ab", "c"}},
		"empty text":    {map[string]string{"dtype": `"|O"`, "shape": "[2]", "chunks": "[2]", "fill_value": "null", "filters": `[{"id":"vlen-utf8"}]`}, map[string]string{"0": "\x02\x00\x00\x00\x02\x00\x00\x00ab\x00\x00\x00\x00"}, []string{"ab", ""}},
		"scalar":        {map[string]string{"dtype": `"|b1"`, "shape": "[]", "chunks": "[]", "fill_value": "null"}, map[string]string{"0": "\x01"}, []bool{true}},
		"zstd":          {map[string]string{"shape": "[2]", "chunks": "[2]", "compressor": `{"id":"zstd","level":1}`}, map[string]string{"0": "\x28\xb5\x2f\xfd\x20\x04\x21\x00\x00\x01\x00\x02\x00"}, []int64{1, 2}},
	} {
		tree, err := zarr.Read(store(c.change, c.chunks))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		d, err := tree.Group("g")
		must(t, err)
		if v := d.Var("x"); !reflect.DeepEqual(v.Data, c.want) || len(v.Dims) > 0 && !strings.HasPrefix(v.Dims[0], "x_dim_") && v.Dims[0] != "a" {
			t.Errorf("%s: %v, want %v", name, v, c.want)
		}
	}
}

func TestBadStores(t *testing.T) {
	// A Blosc frame of 8 bytes whose zlib data do not begin as such, and one of 2 MiB that claims a byte more than 2 GiB.
	const badZlib = "\x02\x01\x70\x01\x08\x00\x00\x00\x08\x00\x00\x00\x1a\x00\x00\x00\x14\x00\x00\x00\x02\x00\x00\x00??"
	hugeFrame := "\x02\x01\x02\x01\x01\x00\x00\x80\x01\x00\x00\x80" + strings.Repeat("x", 2<<20)
	for want, c := range map[string]struct{ change, chunks map[string]string }{
		`compressed by "lzma"`:                  {map[string]string{"compressor": `{"id":"lzma"}`}, nil},
		"the Blosc frame has 3 bytes":           {map[string]string{"compressor": `{"id":"blosc"}`}, map[string]string{"0.0": "abc"}},
		`compressor None`:                       {map[string]string{"compressor": `{"id":"lz4"}`}, nil},
		"zarr_format is 3":                      {map[string]string{"zarr_format": "3"}, nil},
		"shape is [2 3] and the chunks are [2]": {map[string]string{"chunks": "[2]"}, nil},
		"chunks of at least 1":                  {map[string]string{"chunks": "[0, 2]"}, nil},
		"records of dtype":                      {map[string]string{"dtype": `[["a","<f8"]]`}, nil},
		`dtype is "<c16"`:                       {map[string]string{"dtype": `"<c16"`}, nil},
		"no elements of 3 bytes":                {map[string]string{"dtype": `"<f3"`}, nil},
		"filters [delta]":                       {map[string]string{"filters": `[{"id":"delta"}]`}, nil},
		"objects coded by [pickle]":             {map[string]string{"dtype": `"|O"`, "filters": `[{"id":"pickle"}]`}, nil},
		"order":                                 {map[string]string{"order": `"K"`}, nil},
		"fill_value":                            {map[string]string{"fill_value": `"x"`}, nil},
		"1 of 2 chunks are missing":             {map[string]string{"dtype": `"|i1"`, "fill_value": "null"}, map[string]string{"0.0": "\x01\x00\x00\x01"}},
		"7 bytes, want 8":                       {nil, map[string]string{"0.0": "1234567"}},
		"compressed by zlib":                    {map[string]string{"compressor": `{"id":"zlib"}`}, map[string]string{"0.0": "12345678"}},
		"needs more memory":                     {map[string]string{"shape": "[1000000, 1000000]"}, map[string]string{"0.0": "12345678"}},
		"chunks [1000000000 2]":                 {map[string]string{"chunks": "[1000000000, 2]"}, map[string]string{"0.0": "12345678"}},
		"than 67108864 bytes":                   {map[string]string{"shape": "[8388609, 1]"}, nil}, // one number more than 64 MiB
		"Blosc block 0":                         {map[string]string{"compressor": `{"id":"blosc"}`}, map[string]string{"0.0": badZlib}},
		"want at most 2147483648":               {map[string]string{"dtype": `"|O"`, "shape": "[1]", "chunks": "[1]", "fill_value": "null", "filters": `[{"id":"vlen-utf8"}]`, "compressor": `{"id":"blosc"}`}, map[string]string{"0": hugeFrame}},
		"want 2 names":                          {nil, map[string]string{".zattrs": `{"_ARRAY_DIMENSIONS":["a"]}`}},
		"want a finite number":                  {nil, map[string]string{".zattrs": `{"scale_factor":"x","_ARRAY_DIMENSIONS":["a","b"]}`}},
		"appears twice":                         {nil, map[string]string{".zattrs": `{"_ARRAY_DIMENSIONS":["a","a"]}`}},
		"does not fit int64":                    {map[string]string{"dtype": `"<u8"`, "shape": "[1]", "chunks": "[1]"}, map[string]string{"0": "\xff\xff\xff\xff\xff\xff\xff\xff"}},
		"a group inside a group":                {nil, map[string]string{"../sub/.zgroup": "{}"}},
		"text chunk":                            {map[string]string{"dtype": `"|O"`, "shape": "[2]", "chunks": "[2]", "fill_value": "null", "filters": `[{"id":"vlen-utf8"}]`}, map[string]string{"0": "\x02\x00\x00\x00\xff\xff\xff\xffab"}},
	} {
		fsys := store(c.change, c.chunks)
		if f := fsys["g/x/../sub/.zgroup"]; f != nil {
			delete(fsys, "g/x/../sub/.zgroup")
			fsys["g/sub/.zgroup"] = f
		}
		_, err := zarr.Read(fsys)
		var e *zarr.FormatError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "zarr: store") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, fsys := range map[string]fstest.MapFS{"neither .zgroup nor zarr.json": {}, "the document ends too early": {"zarr.json": {}}, "the store is a single array": {"zarr.json": {Data: []byte(`{"zarr_format":3,"node_type":"array"}`)}}} {
		if _, err := zarr.Read(fsys); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := zarr.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"<f8","compressor":null,"fill_value":"NaN","order":"C","filters":null}`), []byte(`{"_ARRAY_DIMENSIONS":["a"]}`), "0", []byte("0123456789abcdef"), []byte(`{"metadata":{"g/x/.zarray":1}}`))
	f.Add([]byte(`{"zarr_format":2,"shape":[2,1],"chunks":[2,9],"dtype":"|O","compressor":{"id":"zlib"},"filters":[{"id":"vlen-utf8"}],"order":"F"}`), []byte(`{}`), "0.0", []byte("\x78\x9c\x63\x60\x00\x00"), []byte(`{}`))
	f.Add([]byte(`{"zarr_format":2,"shape":[],"chunks":[],"dtype":"<U3","compressor":{"id":"zstd"},"dimension_separator":"/"}`), []byte(`{"dtype":"bool"}`), "0", []byte("\x28\xb5\x2f\xfd"), []byte(``))
	f.Fuzz(func(t *testing.T, zarray, zattrs []byte, key string, chunk, all []byte) {
		fsys := fstest.MapFS{".zgroup": {}, "g/.zgroup": {}, "g/x/.zarray": {Data: zarray}, "g/x/.zattrs": {Data: zattrs}, ".zmetadata": {Data: all}}
		if fs.ValidPath(key) && key != ".zarray" && key != ".zattrs" {
			fsys["g/x/"+key] = &fstest.MapFile{Data: chunk}
		}
		tree, err := zarr.Read(fsys)
		if err == nil {
			_ = tree.String()
		}
	})
}

// FuzzReadVersion3 reads hostile metadata and chunks of version 3.
func FuzzReadVersion3(f *testing.F) {
	array := func(kind, codecs string) []byte {
		return []byte(`{"zarr_format":3,"node_type":"array","shape":[2],"data_type":"` + kind + `","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},"chunk_key_encoding":{"name":"default"},"fill_value":0,"codecs":[` + codecs + `]}`)
	}
	f.Add(array("float64", `{"name":"bytes"},"crc32c"`), "c/0", []byte("0123456789abcdef0123"), []byte(`{"zarr_format":3,"node_type":"group","consolidated_metadata":{"metadata":{"g/x":1}}}`))
	f.Add(array("string", `"vlen-utf8",{"name":"zstd"}`), "c/0", []byte("\x28\xb5\x2f\xfd"), []byte(`{"zarr_format":3,"node_type":"group"}`))
	f.Add(array("int8", `{"name":"sharding_indexed","configuration":{"chunk_shape":[1],"codecs":["bytes"],"index_codecs":["bytes"]}}`), "c/0", make([]byte, 34), []byte(`{"zarr_format":3,"node_type":"group"}`))
	f.Fuzz(func(t *testing.T, array []byte, key string, chunk, root []byte) {
		fsys := fstest.MapFS{"zarr.json": {Data: root}, "g/zarr.json": {Data: []byte(`{"zarr_format":3,"node_type":"group"}`)}, "g/x/zarr.json": {Data: array}}
		if fs.ValidPath(key) && key != "zarr.json" {
			fsys["g/x/"+key] = &fstest.MapFile{Data: chunk}
		}
		if tree, err := zarr.Read(fsys); err == nil {
			_ = tree.String()
		}
	})
}
