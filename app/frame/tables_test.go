// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Tables that commands print as CSV are also written as Parquet and as workbooks, with numbers as numbers and empty cells as NaN.
func TestTablesOfCommands(t *testing.T) {
	text := []byte("# a comment\nq (1/nm),I,file\n0.1,2,a\n0.2,,b\n")
	tab, err := tableOf(text)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := tab.Columns[1].Values.([]float64); !ok || v[0] != 2 || !math.IsNaN(v[1]) || tab.Columns[0].Header() != "q (1/nm)" {
		t.Errorf("%+v", tab)
	}
	if _, ok := tab.Columns[2].Values.([]string); !ok {
		t.Errorf("%+v", tab.Columns[2])
	}
	dir := t.TempDir()
	for name, magic := range map[string]string{"a.csv": "# a comment", "a.parquet": "PAR1", "a.xlsx": "PK"} {
		a := &App{Stdout: &bytes.Buffer{}}
		a.Quiet = true
		if err := a.Tabled(filepath.Join(dir, name), text, nil); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.HasPrefix(b, []byte(magic)) {
			t.Errorf("%s begins with %.8q: %v", name, b, err)
		}
	}
}
