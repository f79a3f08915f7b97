// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package main

import (
	"path/filepath"
	"testing"
)

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

// The kernel goes on under 100,000 hostile frames on each of its ports.
func TestManyHostileFrames(t *testing.T) {
	kernel(t)
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("EURYALE_HOSTILE_FRAMES", "100000")
	if err := goCommand(filepath.Join(root, "bin", "kernel-build"), "test", "-count=1", "-run", "TestHostileFrames", "."); err != nil {
		t.Error(err)
	}
}
