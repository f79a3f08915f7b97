// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package data_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/data/stancsv"
)

// realFile is a file of another project and what its own library reads from it: see scripts/real_files.py.
type realFile struct {
	Repository, Path, Format string
	Refused, Array           string // part of the error with which an array of it, or all of it, is refused
	Values                   map[string]realArray
}

// realArray is an array of numbers, or of text.
type realArray struct {
	Shape            []int
	Sum, First, Last json.RawMessage // JSON numbers, or text for those that JSON lacks
	Text             []string
}

// found is what we read: numbers or text.
type found struct {
	shape []int
	x     []float64
	text  []string
}

// realReaders return the array of a name in a file.
var realReaders = map[string]func(file, name string) (found, error){"hdf5": ofHDF5, "fits": ofFITS, "netcdf": ofNetCDF, "stancsv": ofStan, "tiff": ofTIFF}

func ofHDF5(file, name string) (got found, err error) {
	f, err := hdf5.Open(file)
	if err != nil {
		return got, err
	}
	defer f.Close()
	d, err := f.Dataset(name)
	if err != nil {
		return got, err
	}
	if got.shape = d.Shape(); d.Type().Class == hdf5.String || d.Type().Class == hdf5.Vlen {
		got.text, err = d.Strings()
		return got, err
	}
	got.x, err = d.Float64s()
	return got, err
}

func ofFITS(file, name string) (got found, err error) {
	f, err := fits.Open(file)
	if err != nil {
		return got, err
	}
	defer f.Close()
	at, column, isTable := strings.Cut(name, ":")
	k, err := strconv.Atoi(at)
	if err != nil || k >= len(f.HDUs()) {
		return got, errors.New("there is no such HDU")
	}
	h := f.HDUs()[k]
	if !isTable {
		im, err := h.Image()
		if err != nil {
			return got, err
		}
		got.shape = im.Shape()
		got.x, err = im.Float64s()
		return got, err
	}
	t, err := h.Table()
	if err != nil {
		return got, err
	}
	c, err := t.Column(column)
	if err != nil {
		return got, err
	}
	got.x, err = c.Float64s()
	return got, err
}

func ofNetCDF(file, name string) (got found, err error) {
	tree, err := netcdf.Open(file)
	if err != nil {
		return got, err
	}
	d, err := tree.Group("root")
	if err != nil {
		return got, err
	}
	v := d.Var(name)
	if v == nil {
		v = d.Coord(name)
	}
	if v == nil {
		return got, errors.New("there is no such variable")
	}
	return found{shape: v.Shape, x: v.Floats()}, nil
}

func ofStan(file, name string) (got found, err error) {
	c, err := stancsv.Open(file)
	if err != nil {
		return got, err
	}
	at := slices.Index(c.Columns, name)
	if at < 0 {
		return got, errors.New("there is no such column")
	}
	rows := slices.Concat(c.Warmup, c.Draws)
	if c.Mean != nil {
		rows = slices.Insert(rows, 0, c.Mean)
	}
	for _, row := range rows {
		got.x = append(got.x, row[at])
	}
	return found{shape: []int{len(rows)}, x: got.x}, nil
}

func ofTIFF(file, _ string) (got found, err error) {
	im, err := maskfile.ReadImage(file, maskfile.Settings{})
	if err != nil {
		return got, err
	}
	return found{shape: []int{im.Height, im.Width}, x: im.Values}, nil
}

// same reports whether a number is that of the list within rounding of single precision, in which sums of floats may be.
func same(raw json.RawMessage, got, scale float64) bool {
	want, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	return err == nil && (math.Abs(got-want) <= 1e-6*math.Max(scale, math.Abs(want)) || got == want || math.IsNaN(got) && math.IsNaN(want))
}

// Files of other projects have the values that their own libraries read. EURYALE_REAL_FILES is the folder to which scripts/real_files.py
// has fetched them.
func TestRealFiles(t *testing.T) {
	dir := os.Getenv("EURYALE_REAL_FILES")
	if dir == "" {
		t.Skip("EURYALE_REAL_FILES names no folder: scripts/real_files.py fetch DIR fetches the files")
	}
	b, err := os.ReadFile("testdata/real_files.json")
	if err != nil {
		t.Fatal(err)
	}
	var files []realFile
	if err := json.Unmarshal(b, &files); err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	for _, f := range files {
		t.Run(f.Repository+"/"+f.Path, func(t *testing.T) {
			name := filepath.Join(dir, f.Repository, f.Path)
			if f.Refused != "" {
				if _, err := realReaders[f.Format](name, f.Array); err == nil || !strings.Contains(err.Error(), f.Refused) {
					t.Errorf("%v, want a refusal with %q", err, f.Refused)
				}
				return
			}
			for key, want := range f.Values {
				got, err := realReaders[f.Format](name, key)
				if err != nil {
					t.Errorf("%s: %v", key, err)
					continue
				}
				want.compare(t, key, got)
			}
		})
	}
}

func (want realArray) compare(t *testing.T, key string, got found) {
	if got.shape != nil && !slices.Equal(got.shape, want.Shape) {
		t.Errorf("%s: the shape is %v, want %v", key, got.shape, want.Shape)
	}
	if want.Text != nil {
		if n := min(len(want.Text), len(got.text)); !slices.Equal(got.text[:n], want.Text) {
			t.Errorf("%s: %q, want %q", key, got.text[:n], want.Text)
		}
		return
	}
	sum, scale := 0.0, 0.0
	for _, v := range got.x {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			sum, scale = sum+v, scale+math.Abs(v)
		}
	}
	if n := len(got.x); n == 0 || !same(want.Sum, sum, scale) || !same(want.First, got.x[0], 0) || !same(want.Last, got.x[n-1], 0) {
		t.Errorf("%s: %d numbers of sum %g, want %s, %s to %s", key, n, sum, want.Sum, want.First, want.Last)
	}
}
