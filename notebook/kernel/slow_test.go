// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package main

import "testing"

// Every notebook shows the same when it runs again.
func TestNotebooksRunTheSameAgain(t *testing.T) {
	files, texts := examples(t)
	books, told, err := runs(t, files...)
	if err != nil {
		t.Fatalf("%v\n%s", err, told)
	}
	for i, book := range books {
		checkCells(t, texts[i], book)
	}
	sameAgain(t, files, books)
}
