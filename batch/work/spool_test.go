// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/data/fits"
)

// FITS tables that are written in parts hold every row, and those without a row have their columns.
func TestTablesInParts(t *testing.T) {
	columns := []batch.Column{{Name: "name", Kind: batch.Text}, {Name: "x", Unit: "km/s"}, {Name: "k", Kind: batch.Integer}}
	for _, rows := range []int{0, 1, mostAtOnce, 2*mostAtOnce + 3} {
		dir := t.TempDir()
		s, err := newSpool(dir, columns)
		if err != nil {
			t.Fatal(err)
		}
		defer s.remove()
		for i := range rows {
			if err := s.add(&batch.Record{Item: int64(2 * i), Numbers: []float64{float64(i) / 7, float64(-i)}, Texts: []string{fmt.Sprint("star ", i)}}); err != nil {
				t.Fatal(err)
			}
		}
		name := filepath.Join(dir, "t.fits")
		if err := s.fits(name, "STARS", &batch.Manifest{}); err != nil {
			t.Fatal(err)
		}
		f, err := fits.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		table, err := f.Table("STARS")
		if err != nil || table.Len() != rows || len(table.Columns()) != 4 {
			t.Fatalf("%v: %d rows of %d columns, want %d of 4", err, table.Len(), len(table.Columns()), rows)
		}
		if rows == 0 {
			continue
		}
		for _, key := range []string{"ITEM", "X", "K"} {
			c, err := table.Column(key)
			if err != nil {
				t.Fatal(err)
			}
			x, err := c.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range x {
				if want := map[string]float64{"ITEM": float64(2 * i), "X": float64(i) / 7, "K": float64(-i)}[key]; v != want {
					t.Fatalf("%s of row %d is %v, want %v", key, i, v, want)
				}
			}
		}
		c, err := table.Column("NAME")
		if err != nil {
			t.Fatal(err)
		}
		names, err := c.Strings()
		if err != nil || names[rows-1] != fmt.Sprint("star ", rows-1) {
			t.Errorf("%v: the last row is %q", err, names[rows-1])
		}
	}
}
