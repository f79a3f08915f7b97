// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// different returns where two values differ, "" if nowhere; NaN equals NaN.
func different(a, b reflect.Value, at string) string {
	if a.Kind() != b.Kind() || !a.IsValid() {
		return at
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return at
			}
			return ""
		}
		return different(a.Elem(), b.Elem(), at)
	case reflect.Struct:
		for i := range a.NumField() {
			name := a.Type().Field(i).Name
			if d := different(a.Field(i), b.Field(i), at+"."+name); a.Type().Field(i).IsExported() && d != "" {
				return d
			}
		}
		return ""
	case reflect.Slice:
		if a.Len() != b.Len() {
			return at
		}
		for i := range a.Len() {
			if d := different(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", at, i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Float64:
		if math.IsNaN(a.Float()) && math.IsNaN(b.Float()) {
			return ""
		}
	}
	if fmt.Sprint(a) != fmt.Sprint(b) {
		return fmt.Sprintf("%s: %v, %v", at, a, b)
	}
	return ""
}

// FuzzRead opens any bytes as a result file and derives all there is.
func FuzzRead(f *testing.F) {
	for i, r := range []*Result{sample(2, 1), sample(1, 2)} {
		name := filepath.Join(f.TempDir(), "seed.hdf")
		r.Multitau.G2, r.Multitau.Err, r.Multitau.Delay = NewMatrix(2, 2), NewMatrix(2, 2), []float64{1, 2}
		if i == 1 {
			r.Twotime = &Twotime{Bins: []int{1}, Maps: []*Matrix{NewMatrix(3, 3)}, G2: NewMatrix(3, 1)}
			r.SAXS, r.QMap.Static = []float64{1}, Partition{Axis0: []float64{1}, Axis1: []float64{0}, Cells: []int{0}}
			r.Segments = NewMatrix(2, 1)
		}
		if err := Write(name, r); err != nil {
			f.Fatal(err)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		r.HDF5().MaxBytes = 1 << 20
		r.Delays()
		r.Profile()
		r.SegmentProfiles()
		r.ReadImage()
		r.ReadMaps()
		r.ReadC2(0, 100, false)
		r.ReadUnnormalized(0)
		if r.Multitau != nil {
			r.Multitau.RepairedErr()
		}
		for bin := range min(r.QMap.Dynamic.Bins(), 100) {
			r.QMap.BinLabel(bin)
		}
		r.QMap.Select(0, 1)
	})
}
