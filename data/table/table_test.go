// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package table_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/table"
	"github.com/euryale-dev/euryale/internal/peer"
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

// Workbooks have the parts that readers look for, and cells of the right types.
func TestExcel(t *testing.T) {
	tab := fits()
	tab.Add("a <b>\t_x0041_", "", []string{"\x01", strings.Repeat("x", 40000), "é"})
	b := written(t, tab, ".xlsx")
	book, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, f := range book.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		text[f.Name] = string(all)
	}
	for part, want := range map[string]string{"[Content_Types].xml": "/xl/worksheets/sheet1.xml", "_rels/.rels": "xl/workbook.xml", "xl/_rels/workbook.xml.rels": "worksheets/sheet1.xml", "xl/workbook.xml": `<sheet name="results"`, "xl/styles.xml": "<b/>", "xl/worksheets/sheet1.xml": `state="frozen"`} {
		if !strings.HasPrefix(text[part], "<?xml") || !strings.Contains(text[part], want) {
			t.Errorf("%s lacks %s: %s", part, want, text[part])
		}
	}
	var sheet struct {
		Rows []struct {
			R     int `xml:"r,attr"`
			Cells []struct {
				R     string `xml:"r,attr"`
				T     string `xml:"t,attr"`
				S     string `xml:"s,attr"`
				Value string `xml:"v"`
				Text  string `xml:"is>t"`
			} `xml:"c"`
		} `xml:"sheetData>row"`
	}
	if err := xml.Unmarshal([]byte(text["xl/worksheets/sheet1.xml"]), &sheet); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for i, row := range sheet.Rows {
		if row.R != i+1 {
			t.Errorf("row %d is called %d", i+1, row.R)
		}
		for _, c := range row.Cells {
			fmt.Fprintf(&got, "%s %s%s %.40s\n", c.R, c.T, c.S, c.Value+c.Text)
			if len(c.Text) > 32767 {
				t.Errorf("a text of %d characters", len(c.Text))
			}
		}
	}
	want := `A1 inlineStr1 zebra
B1 inlineStr1 bin
C1 inlineStr1 tau (s)
D1 inlineStr1 good
E1 inlineStr1 a <b>	_x005F_x0041_
A2 inlineStr a.hdf
B2  1
C2  0.1
D2 b 1
E2 inlineStr \ufffd
A3 inlineStr =1+2, "b"
B3  2
D3 b 0
E3 inlineStr xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
A4 inlineStr µ
B4  9223372036854775807
C4 inlineStr +Inf
D4 b 1
E4 inlineStr é
`
	if want = strings.Replace(want, `\ufffd`, "\ufffd", 1); got.String() != want {
		t.Errorf("cells\n%s\nwant\n%s", got.String(), want)
	}
	wide := &table.Table{}
	for k := range 703 {
		wide.Add(fmt.Sprint(k), "", []bool{true})
	}
	w := written(t, wide, ".xlsx")
	book, _ = zip.NewReader(bytes.NewReader(w), int64(len(w)))
	r, _ := book.Open("xl/worksheets/sheet1.xml")
	all, _ := io.ReadAll(r)
	for place, k := range map[string]int{"A1": 0, "Z1": 25, "AA1": 26, "AZ1": 51, "BA1": 52, "ZZ1": 701, "AAA1": 702} {
		if !strings.Contains(string(all), fmt.Sprintf(`<c r="%s" s="1" t="inlineStr"><is><t xml:space="preserve">%d</t>`, place, k)) {
			t.Errorf("column %d is not %s", k, place)
		}
	}
	tab.Name = "a/b"
	if err := tab.Write(io.Discard, ".xlsx"); err == nil || !strings.Contains(err.Error(), `"a/b"`) {
		t.Error(err)
	}
}

// Parquet has the bytes of a file that pyarrow read.
func TestParquet(t *testing.T) {
	got := append(written(t, fits(), ".parquet"), written(t, many(70_000), ".parquet")...) // of one row group, and of two
	sum := fmt.Sprintf("%d bytes, %x", len(got), sha256.Sum256(got))
	golden := filepath.Join("testdata", "parquet.golden.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(sum+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || sum+"\n" != string(want) {
		t.Errorf("%s, want %s%v; if TestPeers can still read the files, go test ./data/table -run Parquet -update", sum, want, err)
	}
}

var update = flag.Bool("update", false, "write the golden file again")

// many is a table of n rows with a NaN in each third.
func many(n int) *table.Table {
	x, y, s, good := make([]float64, n), make([]int64, n), make([]string, n), make([]bool, n)
	for i := range x {
		x[i], y[i], s[i], good[i] = 1/float64(i+1), int64(-i), fmt.Sprint("row ", i), i%2 == 0
		if i%3 == 2 {
			x[i] = math.NaN()
		}
	}
	var t table.Table
	t.Add("x", "", x)
	t.Add("y", "", y)
	t.Add("s", "", s)
	t.Add("good", "", good)
	for k := range 14 { // lists of more than 14 elements are written in another way
		t.Add(fmt.Sprint("z", k), "nm", y)
	}
	return &t
}

//go:embed testdata/read.py
var read string

// What pandas reads by openpyxl and pyarrow is what was written, also where there are no rows.
func TestPeers(t *testing.T) {
	py := peer.Python(t, "pandas", "pyarrow", "openpyxl")
	dir := t.TempDir()
	var none table.Table
	none.Add("x", "s", []float64{})
	for name, tab := range map[string]*table.Table{"fits": fits(), "many": many(70_000), "none": &none} {
		for _, ext := range []string{".xlsx", ".parquet"} {
			if err := tab.Save(filepath.Join(dir, name+ext), false); err != nil {
				t.Fatal(err)
			}
		}
	}
	if out := py.Run(t, read, dir); out != "as written\n" {
		t.Error(out)
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
