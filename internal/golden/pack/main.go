// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command pack writes the references that may be distributed into one zip file per topic; make
// golden-pack runs it.
//
//	go run ./internal/golden/pack ../shared/reference internal/golden/testdata
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// packed lists the contents of each zip file, as patterns of files and folders in the topic. The
// README beside the zip files says who made them, what is left out and why.
var packed = map[string][]string{
	"assemblies": {"README.md", "*_goldens.json", "candidate_sampler_theory.json", "learnable_connectome_demo.json",
		"nemo_statistical.json", "parser_outputs.json", "simulation_statistics.json"},
	"cuda": {"README.md", "ops_*.json", "nn_*.json", "optim.json", "rng_philox.json", "dtype_convert.json"},
	"inference": {"README.md", "diagnostics", "distributions", "inferencedata", "loo", "nist", "nuts", "optim", "transforms",
		"posteriors/g2_*.json", "posteriors/synthetic_targets.json", "stan_2_21_peer.json", "peer_gradient_efficiency.json"},
	"measured": {"README.md", "*/truth.json", "*/*.npz", "*/mask*", "*/constants*", "*/*.nc", "*/*.nxs", "*/*.zarr", "*/tiff", "*/*.dat", "*/*.csv"},
	"scatter": {"README.md", "analytic", "cases", "demo", "grad", "nrss", "reduce", "sphere/*.json",
		"morph/*.npz", "morph/gA_euler3.h5", "morph/gA_euler3_XYZ.h5", "morph/gT_2d.h5", "morph/gV_vector2.h5"},
	"spectra": {"README.md", "batch", "ccf", "chain", "chisq", "desi", "fit", "library", "misc", "nn", "posterior", "resolution", "spline",
		"triangulation", "vsini"},
	"xpcs": {"README.md", "analysis", "calibration", "correlator", "device", "g2fit", "hdf5", "logdensity", "mask", "numerics", "partition", "posterior", "qmap", "twotime"},
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pack REFERENCE TESTDATA: name the folder with the topics and the one for the zips")
		os.Exit(64)
	}
	for topic, patterns := range packed {
		b, n, err := pack(os.DirFS(os.Args[1]), topic, patterns)
		name := filepath.Join(os.Args[2], topic+".zip")
		if err == nil {
			err = os.WriteFile(name, b, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "pack:", err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d files, %.2f MB\n", name, n, float64(len(b))/1e6)
	}
}

// pack returns the zip file of a topic and the number of its files. Equal files give equal bytes,
// because names are sorted and times are fixed.
func pack(reference fs.FS, topic string, patterns []string) ([]byte, int, error) {
	names, err := list(reference, topic, patterns)
	if err != nil {
		return nil, 0, err
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, name := range names {
		b, err := fs.ReadFile(reference, name)
		if err != nil {
			return nil, 0, err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Unix(1e9, 0).UTC()})
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	err = z.Close()
	return out.Bytes(), len(names), err
}

// list returns the files of a topic that match the patterns, or that are in
// folders that do, sorted.
func list(reference fs.FS, topic string, patterns []string) (names []string, err error) {
	for _, p := range patterns {
		found, err := fs.Glob(reference, topic+"/"+p)
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("%s/%s: no such file (%v): name a folder that holds all topics", topic, p, err)
		}
		for _, top := range found {
			err := fs.WalkDir(reference, top, func(name string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					names = append(names, name)
				}
				return err
			})
			if err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
