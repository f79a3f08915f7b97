// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/internal/peer"
)

func TestXarrayOpensOurs(t *testing.T) {
	py := peer.Python(t, "xarray", "zarr")
	for name, s := range map[string]zarr.Settings{"plain": {}, "packed": {Zlib: 5, ChunkBytes: 64}} {
		path := filepath.Join(t.TempDir(), name+".zarr")
		tree := sample(t)
		must(t, zarr.Write(path, tree, s))
		py.Compare(t, "zarr", path, tree)
	}
	path := filepath.Join(t.TempDir(), "stream.zarr")
	s, err := zarr.Create(path, layout(t), zarr.Settings{ChunkDraws: 10, Zlib: 3})
	must(t, err)
	must(t, draw(s, 0, 0, 25), draw(s, 1, 0, 26), draw(s, 2, 0, 37), s.Close())
	tree, err := zarr.Open(path)
	must(t, err)
	checkDraws(t, path, 25)
	py.Compare(t, "zarr", path, tree)
}

const writeByXarray = `
import sys, numpy as np, xarray as xr, zarr
rng = np.random.default_rng(1)
post = xr.Dataset({"mu": (("chain", "draw"), rng.normal(size=(4, 1000))), "theta": (("chain", "draw", "school"), np.round(rng.normal(size=(4, 1000, 3)), 2))},
    coords={"chain": np.arange(4), "draw": np.arange(1000), "school": ["a", "bb", "ccc"], "size": ("school", [1, 2, 3])}, attrs={"creation_library": "xarray"})
post["mu"].values[0, 0] = np.nan
stats = xr.Dataset({"diverging": (("chain", "draw"), rng.random((4, 1000)) < .3), "n": (("chain", "draw"), rng.integers(0, 99, (4, 1000)))})
for how, codec in {"default": "none", "zlib": {"id": "zlib", "level": 2}, "zstd": {"id": "zstd", "level": 3}, "raw": None, "blosc-lz4": dict(id="blosc", cname="lz4", clevel=9, shuffle=1), "blosc-zstd": dict(id="blosc", cname="zstd", clevel=5, shuffle=2), "blosc-zlib": dict(id="blosc", cname="zlib", clevel=5, shuffle=0), "blosc-lz4hc": dict(id="blosc", cname="lz4hc", clevel=5, shuffle=2)}.items():
    enc = {} if codec == "none" else {"theta": {"compressors" if zarr.__version__ > "3" else "compressor": None if codec is None else __import__("numcodecs").get_codec(codec)}}
    p = sys.argv[1] + "/" + how + ".zarr"
    xr.DataTree.from_dict({"posterior": post, "sample_stats": stats}).to_zarr(p, **({"zarr_format": 2} if zarr.__version__ > "3" else {}), encoding={"/posterior": enc})
for v in post["theta"].values.ravel(): print(repr(float(v)))
`

func TestWeOpenXarrays(t *testing.T) {
	py := peer.Python(t, "xarray", "zarr")
	dir := t.TempDir()
	want := strings.Fields(py.Run(t, writeByXarray, dir))
	for _, how := range []string{"default", "zlib", "zstd", "raw", "blosc-lz4", "blosc-zstd", "blosc-zlib", "blosc-lz4hc"} {
		tree, err := zarr.Open(filepath.Join(dir, how+".zarr"))
		must(t, err)
		post, err := tree.Group("posterior")
		must(t, err)
		stats, err := tree.Group("sample_stats")
		must(t, err)
		if post.Coord("size") == nil || post.Coord("school").Text(2) != "ccc" || stats.Var("diverging").DType() != "bool" || post.Var("mu").Text(0) != "NaN" {
			t.Errorf("%s: %v %v", how, post, stats)
		}
		for i, v := range post.Var("theta").Floats() {
			if w, err := strconv.ParseFloat(want[i], 64); err != nil || v != w {
				t.Fatalf("%s: element %d is %v, want %s", how, i, v, want[i])
			}
		}
	}
}
