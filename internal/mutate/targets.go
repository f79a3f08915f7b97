// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// target is a package and the files in which faults are planted.
type target struct {
	pkg   string   // folder of the package
	files []string // patterns of files in it; empty for all files that are not tests
	also  []string // folders of other packages whose tests also cover it
	short bool     // whether the short tests are enough, because the others take minutes
}

// targets are the packages in which an unnoticed fault does most harm: numbers that no type checks,
// and files that somebody reads years later.
var targets = []target{
	{pkg: "infer/dist"},
	{pkg: "infer/diag"},
	{pkg: "infer/internal/hamiltonian", files: []string{"metric*.go", "soft_step.go", "leapfrog.go", "nuts.go", "subtree.go"}, also: []string{"infer/internal/warmup", "infer"}, short: true},
	{pkg: "infer/internal/warmup", also: []string{"infer"}, short: true},
	{pkg: "infer/internal/gaussian", also: []string{"infer"}, short: true},
	{pkg: "infer/internal/labels", also: []string{"infer"}, short: true},
	{pkg: "infer", files: []string{"coordinate_map.go", "family.go", "latent*.go", "markov_chain.go", "moved.go", "pool*.go", "smc*.go"}, short: true},
	{pkg: "optim", files: []string{"covariance.go", "sandwich.go", "variance.go", "batch_result.go", "reduce.go"}, short: true},
	{pkg: "optim/internal/batch", files: []string{"errors.go"}, also: []string{"optim"}, short: true},
	{pkg: "autodiff", files: []string{"op_reduce.go", "op_cumsum.go"}, short: true},
	{pkg: "autodiff/internal/cpu", files: []string{"run.go", "worker.go"}, also: []string{"autodiff"}, short: true},
	{pkg: "kernels", files: []string{"pure_*.go", "scaled.go", "corners.go", "fft_plan.go", "fft_chirp.go"}, short: true},
	{pkg: "sim/spectra"},
	{pkg: "data/hdf5"},
	{pkg: "data/csv"},
	{pkg: "data/zarr"},
	{pkg: "data/arrow"},
	{pkg: "data/netcdf"},
	{pkg: "data/cyrsoxs"},
	{pkg: "internal/atomicfile"},
}

// sources returns the files of a target, relative to the root.
func (t target) sources(root string) ([]string, error) {
	patterns := t.files
	if len(patterns) == 0 {
		patterns = []string{"*.go"}
	}
	var all []string
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(root, t.pkg, p))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("mutate: %s has no file %s: mend targets.go", t.pkg, p)
		}
		for _, f := range found {
			name := filepath.Base(f)
			if !strings.HasSuffix(name, "_test.go") && name != "doc.go" {
				all = append(all, t.pkg+"/"+name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
