// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gpubench

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/roofline"
)

// uncounted are the kernels of engines that no figure has, by the files where they stand. Most have no declared work; those of two-time maps
// (divide, products and finish) have, which the tests of package correlate compare with the emulated device.
var uncounted = map[string]string{
	"kernels/cuda/cu/philox.cu":          "*",
	"kernels/cuda/basic/arrays.cu":       "*", // basic.go declares the maps and the product that are measured
	"sim/rsoxs/cu/detector.cu":           "*",
	"sim/rsoxs/cu/reflect.cu":            "*",
	"sim/rsoxs/cu/fields.cu":             "mean mean_corner mean_fill back spread_sums centre centre_back add",
	"sim/xpcs/partition/cu/partition.cu": "*",
	"sim/xpcs/mask/cu/mask.cu":           "*",
	"sim/xpcs/transport/cu/pairs.cu":     "*", // pair_text.go makes the kernel of gradients from it, whose work is declared
	"sim/xpcs/correlate/cu/correlate.cu": "from_uint8 from_uint32 spread divide products add_block finish age_singles age_products leave averages ratios bin_g2",
	"sim/assembly/cu/assembly.cu":        "draw change inhibit widen poke",
	"optim/internal/batch/lanes.cu":      "",
}

var kernelName = regexp.MustCompile(`extern "C" __global__ void (?:__launch_bounds__\([^)]*(?:\([^)]*\))?[^)]*\) )?(\w+)\(`)

// Every kernel of an engine is in a figure, with its work, or listed above.
func TestKernelsHaveWork(t *testing.T) {
	card, err := roofline.Find("H100")
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]bool{}
	for _, f := range roofline.Figures() {
		s, err := card.Figure(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range s.Launches {
			counted[l.Kernel] = true
		}
	}
	const root = "../.."
	seen := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case filepath.Ext(path) != ".cu":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		list := uncounted[filepath.ToSlash(name)]
		listed := map[string]bool{}
		for _, k := range strings.Fields(list) {
			listed[k] = true
		}
		for _, m := range kernelName.FindAllStringSubmatch(string(text), -1) {
			seen++
			switch k := m[1]; {
			case list == "*":
			case counted[k] == listed[k]:
				t.Errorf("%s: kernel %s: work declared %v, listed as uncounted %v: declare its work beside it, or list it", name, k, counted[k], listed[k])
			}
		}
		return nil
	})
	if err != nil || seen < 60 {
		t.Errorf("%d kernels were found (%v)", seen, err)
	}
}
