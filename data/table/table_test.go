// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package table_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/xuri/excelize/v2"

	"github.com/euryale-dev/euryale/data/table"
)

func fits() *table.Table {
	var t table.Table
	t.Add("zebra", "", []string{"a.hdf", "=1+2, \"b\"", "µ"})
	t.Add("bin", "", []int64{1, 2, math.MaxInt64})
	t.Add("tau", "s", []float64{0.1, math.NaN(), math.Inf(1)})
	t.Add("good", "", []bool{true, false, true})
	return &t
}

func written(t *testing.T, tab *table.Table, ext string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tab.Write(&b, ext); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCSV(t *testing.T) {
	got, err := csv.NewReader(bytes.NewReader(written(t, fits(), ".csv"))).ReadAll()
	want := [][]string{{"zebra", "bin", "tau (s)", "good"}, {"a.hdf", "1", "0.1", "true"}, {"'=1+2, \"b\"", "2", "", "false"}, {"µ", "9223372036854775807", "+Inf", "true"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q: %v", got, err)
	}
}

func TestExcel(t *testing.T) {
	book, err := excelize.OpenReader(bytes.NewReader(written(t, fits(), ".xlsx")))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	got, err := book.GetRows("results")
	if err != nil || len(got) != 4 || !reflect.DeepEqual(got[0], []string{"zebra", "bin", "tau (s)", "good"}) || !reflect.DeepEqual(got[1], []string{"a.hdf", "1", "0.1", "TRUE"}) || got[2][0] != "=1+2, \"b\"" || got[2][2] != "" {
		t.Errorf("%q: %v", got, err)
	}
	if f, _ := book.GetCellFormula("results", "A3"); f != "" {
		t.Errorf("a text became the formula %q", f)
	}
}

func TestParquet(t *testing.T) {
	b := written(t, fits(), ".parquet")
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, field := range f.Schema().Fields() {
		names = append(names, field.Name())
	}
	if !reflect.DeepEqual(names, []string{"zebra", "bin", "tau (s)", "good"}) {
		t.Errorf("columns %q", names)
	}
	rows := make([]parquet.Row, 4)
	n, _ := parquet.NewReader(f).ReadRows(rows)
	if n != 3 || rows[0][2].Double() != 0.1 || !rows[1][2].IsNull() || !math.IsInf(rows[2][2].Double(), 1) || rows[2][1].Int64() != math.MaxInt64 || rows[2][0].String() != "µ" || !rows[2][3].Boolean() {
		t.Errorf("%d rows: %v", n, rows[:n])
	}
}

// Many rows come back as they were, in every format that can be read here.
func TestManyRows(t *testing.T) {
	x := make([]float64, 5000)
	for i := range x {
		x[i] = 1 / float64(i+1)
	}
	var tab table.Table
	tab.Add("x", "", x)
	b := written(t, &tab, ".parquet")
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil || f.NumRows() != int64(len(x)) {
		t.Fatal(f, err)
	}
	rows := make([]parquet.Row, len(x)+1)
	r := parquet.NewReader(f)
	for at := 0; at < len(x); {
		n, _ := r.ReadRows(rows[at:])
		if n == 0 {
			t.Fatalf("%d rows", at)
		}
		at += n
	}
	for i, v := range x {
		if rows[i][0].Double() != v {
			t.Fatalf("row %d is %v", i, rows[i])
		}
	}
}

func TestMistakes(t *testing.T) {
	uneven, twice, odd := fits(), fits(), fits()
	uneven.Add("more", "", []float64{1})
	twice.Add("tau", "s", []float64{1, 2, 3})
	odd.Add("odd", "", []int{1, 2, 3})
	for want, tab := range map[string]*table.Table{"has 1 row and zebra has 3": uneven, `called "tau (s)"`: twice, "holds []int": odd, "no columns": {}} {
		if err := tab.Write(&bytes.Buffer{}, ".csv"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	dir := t.TempDir()
	if err := fits().Save(filepath.Join(dir, "x.xls"), false); err == nil || !strings.Contains(err.Error(), ".csv, .parquet, .xlsx") {
		t.Error(err)
	}
	name := filepath.Join(dir, "x.csv")
	if err := fits().Save(name, false); err != nil {
		t.Fatal(err)
	}
	if err := fits().Save(name, false); err == nil {
		t.Error("a file was replaced")
	}
	if b, err := os.ReadFile(name); err != nil || len(b) == 0 {
		t.Error(err)
	}
}
