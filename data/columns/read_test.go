// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package columns_test

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/columns"
	"github.com/euryale-dev/euryale/data/table" // which reads workbooks
	"github.com/euryale-dev/euryale/tensor"
)

func TestRead(t *testing.T) {
	var book, array bytes.Buffer
	var w table.Table
	w.Add("dose", "mg", []float64{1, 2})
	w.Add("who", "", []string{"A", "B"})
	if err := w.Write(&book, ".xlsx"); err != nil {
		t.Fatal(err)
	}
	a, err := tensor.From([]float64{1, 5, 2, 6, 3, 7}, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.WriteNPY(&array); err != nil {
		t.Fatal(err)
	}
	two := []any{[]float64{1, 2}, []float64{0.5, 1.5}}
	for name, c := range map[string]struct {
		text, names, note string
		values            []any
	}{
		"commas":        {"x,y\n1,0.5\n2,1.5\n", "x y", "", two},
		"German":        {"Zeit (s);Größe [mg]\n1;0,5\n2;1,5\n", "Zeit Gr__e", "decimal commas", two},
		"thousands":     {"x;y\n1;1.234,5\n2;987,1\n3;2.000\n", "x y", "points in column 2 set thousands apart", []any{[]float64{1, 2, 3}, []float64{1234.5, 987.1, 2000}}},
		"millions":      {"x;y\n1,5;1.234.000\n2;2.000\n", "x y", "points in column 2", []any{[]float64{1.5, 2}, []float64{1234000, 2000}}},
		"points beside": {"x;y\n1,5;1.25\n2;1.125\n", "x y", "decimal commas", []any{[]float64{1.5, 2}, []float64{1.25, 1.125}}},
		"dates":         {"d;y\n01.02.2024;1.234,5\n02.02.2024;1.000,0\n", "d y", "holds dates", []any{[]float64{0, 1}, []float64{1234.5, 1000}}},
		"blanks":        {"# made today\n\n x y\n 1  0.5\n 2  1.5\n", "x y", "", two},
		"savetxt":       {"# x y\n1 0.5\n2 1.5\n", "x y", "", two},
		"none":          {"1\t0.5\n2\t1.5\n", "x y", "called x, y", two},
		"none comma":    {"1, 0.5\n2, 1.5\n", "x y", "called x, y", two},
		"four":          {"1 2 3 4\n5 6 7 8\n", "c1 c2 c3 c4", "called c1, c2, c3, c4", []any{[]float64{1, 5}, []float64{2, 6}, []float64{3, 7}, []float64{4, 8}}},
		"labels":        {"\"\",school,y\n1,\"A, B\",2\n2,C,NA\n", "school y", "", []any{[]string{"A, B", "C"}, []float64{2, math.NaN()}}},
		"workbook":      {book.String(), "dose who", "", []any{[]float64{1, 2}, []string{"A", "B"}}},
		"array":         {array.String(), "x y", "called x, y", []any{[]float64{1, 2, 3}, []float64{5, 6, 7}}},
	} {
		got, note, err := columns.Read([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var names []string
		for i, col := range got {
			names = append(names, col.Name)
			if i < len(c.values) && !reflect.DeepEqual(col.Values, c.values[i]) && !(name == "labels" && i == 1) {
				t.Errorf("%s: column %s is %v, want %v", name, col.Name, col.Values, c.values[i])
			}
		}
		if strings.Join(names, " ") != c.names || !strings.Contains(note, c.note) || c.note == "" && note != "" {
			t.Errorf("%s: the columns are %v with the note %q", name, names, note)
		}
	}
	if got, _, err := columns.Read([]byte("Zeit (s);m [mg]\n1;0,5\n")); err != nil || got[0].Unit != "s" || got[1].Unit != "mg" {
		t.Errorf("units: %v %v", got, err)
	}
	for text, says := range map[string]string{
		"":                          "there is no header",
		"x,y\n":                     "no rows",
		"x;y\n1,5;1.234\n2;2.345\n": "line 2: the table has decimal commas, and 1.234 in column 2 may be a thousand",
		"x;y\n1;1.234,5\n2;2.34\n":  "line 3: column 2 has numbers such as 1.234,5",
		"x,x\n1,2\n":                "columns 1 and 2 are both called x",
		"x,y\n1,2\n3\n":             "line 3: the line has 1 fields, but the header has 2",
		"1 2\n3\n":                  "line 2: the line has 1 field",
		"PK\x03\x04xxxx":            "cannot be opened as one",
		"\x93NUMPY\x01\x00":         "",
	} {
		if _, _, err := columns.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}
