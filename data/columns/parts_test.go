// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package columns_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/euryale-dev/euryale/data/columns"
	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/hdf5"
)

// Dates and marks of thousands become numbers, and are told; other texts stay labels.
func TestDatesAndThousands(t *testing.T) {
	for name, c := range map[string]struct {
		text, note, unit string
		want             any
	}{
		"dates":           {"x\n2024-01-05\n2024-01-07\n", "x holds dates, which are taken as days since 2024-01-05", "d", []float64{0, 2}},
		"German dates":    {"x,y\n05.01.2024,1\n07.02.2024,2\n", "days since 05.01.2024", "d", []float64{0, 33}},
		"times":           {"x,y\n2024-01-05T10:00:00,1\n2024-01-05T10:01:30,2\n", "seconds since", "s", []float64{0, 90}},
		"thousands":       {"x,y\n\"1,234.5\",1\n\"12\",2\n", "numbers of x have marks of thousands", "", []float64{1234.5, 12}},
		"Swiss thousands": {"x,y\n1'234'567,1\n-2'000,2\n", "numbers of x have marks of thousands", "", []float64{1234567, -2000}},
		"either order":    {"x,y\n01/02/2024,1\n03/04/2024,2\n", "", "", []string{"01/02/2024", "03/04/2024"}},
		"labels":          {"x,y\nA,1\n2024-01-05,2\n", "", "", []string{"A", "2024-01-05"}},
	} {
		got, note, err := columns.Read([]byte(c.text))
		if err != nil || !strings.Contains(note, c.note) || c.note == "" && note != "" || !reflect.DeepEqual(got[0].Values, c.want) || got[0].Unit != c.unit {
			t.Errorf("%s: %+v %q %v", name, got, note, err)
		}
	}
}

// A workbook is read by the name or the number of a sheet.
func TestSheets(t *testing.T) {
	book := excelize.NewFile()
	if _, err := book.NewSheet("run 2"); err != nil {
		t.Fatal(err)
	}
	for cell, v := range map[string]any{"A1": "t", "B1": "y", "A2": 1, "B2": 5, "A3": 2, "B3": 6} {
		if err := book.SetCellValue("run 2", cell, v); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := book.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, sheet := range []string{"run 2", "2"} {
		got, note, err := columns.ReadPart(b.Bytes(), sheet)
		if err != nil || note != "" || len(got) != 2 || !reflect.DeepEqual(got[1].Values, []float64{5, 6}) {
			t.Errorf("%s: %v %q %v", sheet, got, note, err)
		}
	}
	for sheet, want := range map[string]string{"": "the sheet Sheet1 is empty", "run 3": `there is no sheet "run 3": the sheets are ["Sheet1" "run 2"]`, "3": "there is no sheet"} {
		if _, _, err := columns.ReadPart(b.Bytes(), sheet); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", sheet, err)
		}
	}
	if file, part := columns.SplitPart("a/b.xlsx:run 2"); file != "a/b.xlsx" || part != "run 2" {
		t.Error(file, part)
	}
	if file, part := columns.SplitPart("a:b.csv"); file != "a:b.csv" || part != "" {
		t.Error(file, part)
	}
	if _, _, err := columns.ReadPart([]byte("x,y\n1,2\n"), "2"); err == nil {
		t.Error("a sheet of a text")
	}
}

// Tables of HDF5 files are datasets side by side, or one of two axes.
func TestHDF5(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.h5")
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range map[string]any{"/entry/t": []float64{0, 1, 2}, "/entry/y": []int32{5, 6, 7}, "/entry/run": []string{"A", "A", "B"}, "/entry/short": []float64{1, 2}} {
		if err := w.Write(key, v, hdf5.Layout{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Write("/z/m", []float64{1, 5, 2, 6}, hdf5.Layout{Shape: []int{2, 2}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Attr("/entry/t", "units", "ms"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"", "/entry"} {
		got, note, err := columns.ReadPart(b, part)
		if err != nil || len(got) != 3 || (note == "") != (part != "") {
			t.Fatalf("%q: %v %q %v", part, got, note, err)
		}
		for _, c := range got {
			if want := map[string]any{"t": []float64{0, 1, 2}, "y": []float64{5, 6, 7}, "run": []string{"A", "A", "B"}}[c.Name]; !reflect.DeepEqual(c.Values, want) || c.Name == "t" && c.Unit != "ms" {
				t.Errorf("%+v", c)
			}
		}
	}
	got, note, err := columns.ReadPart(b, "/z/m")
	if err != nil || !strings.Contains(note, "called x, y") || !reflect.DeepEqual(got[1].Values, []float64{5, 6}) {
		t.Errorf("%v %q %v", got, note, err)
	}
	for _, part := range []string{"/nowhere", "/entry/t"} {
		if _, _, err := columns.ReadPart(b, part); err == nil {
			t.Errorf("%s was read", part)
		}
	}
}

func TestFITS(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.fits")
	w, err := fits.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	w.Primary(nil)
	w.Table("STARS", nil, []fits.Data{{Name: "TARGETID", Values: []int64{39627652591521181, 5}}, {Name: "VRAD", Unit: "km s-1", Values: []float64{1.5, math.NaN()}},
		{Name: "N", Values: []int64{7, 0}, Mask: []bool{false, true}}, {Name: "OK", Values: []bool{true, false}}, {Name: "KIND", Values: []string{"STAR", "QSO"}}, {Name: "TWO", Shape: []int{2}, Values: []float64{1, 2, 3, 4}}})
	w.Table("MORE", nil, []fits.Data{{Name: "A", Values: []float64{1}}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got, note, err := columns.Read(b)
	if err != nil || len(got) != 5 || !strings.Contains(note, "STARS (1)") || !strings.Contains(note, "left out: TWO") {
		t.Fatalf("%v %q %v", got, note, err)
	}
	for i, want := range []columns.Column{{Name: "TARGETID", Values: []string{"39627652591521181", "5"}}, {Name: "VRAD", Unit: "km s-1"}, {Name: "N"}, {Name: "OK", Values: []string{"true", "false"}}, {Name: "KIND", Values: []string{"STAR", "QSO"}}} {
		if got[i].Name != want.Name || got[i].Unit != want.Unit || want.Values != nil && !reflect.DeepEqual(got[i].Values, want.Values) {
			t.Errorf("%+v, want %+v", got[i], want)
		}
	}
	if v := got[2].Values.([]float64); v[0] != 7 || !math.IsNaN(v[1]) {
		t.Errorf("%v", v)
	}
	for part, want := range map[string]int{"more": 1, "2": 1, "STARS": 5} {
		if got, _, err := columns.ReadPart(b, part); err != nil || len(got) != want {
			t.Errorf("%s: %v %v", part, got, err)
		}
	}
	for _, part := range []string{"NONE", "0", "9"} {
		if _, _, err := columns.ReadPart(b, part); err == nil {
			t.Errorf("%s was read", part)
		}
	}
}
