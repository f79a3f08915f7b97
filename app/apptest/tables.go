// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package apptest

import (
	"encoding/csv"
	"os"
	"slices"
	"testing"
)

// Rows reads a table that was written as CSV, with its header first.
func Rows(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil || len(all) < 2 {
		t.Fatalf("%s: %q: %v", name, all, err)
	}
	return all
}

// Cell returns the cell of a column in a row, counted from 1.
func Cell(t *testing.T, all [][]string, row int, name string) string {
	t.Helper()
	at := slices.Index(all[0], name)
	if at < 0 || row >= len(all) {
		t.Fatalf("there is no column %q, or no row %d, in %q", name, row, all)
	}
	return all[row][at]
}
