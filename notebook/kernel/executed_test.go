// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/notebook/cells"
)

// local is what depends on the machine or the hour.
var local = regexp.MustCompile(`/(?:home|root|Users|tmp|var|mnt)/|[A-Z]:\\\\|gradients, [0-9.]+ s`)

// The executed copies are of today's texts, whole, and the same for whoever makes them.
func TestExecutedCopies(t *testing.T) {
	_, texts := examples(t)
	folder := filepath.Join(notebooks, "executed")
	names := map[string]bool{}
	total := 0
	for _, text := range texts {
		name := strings.TrimSuffix(text.Name, ".md") + ".ipynb"
		names[name] = true
		file, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Errorf("%v: make executed writes it", err)
			continue
		}
		total += len(file)
		book, err := cells.Read(name, file)
		if err != nil {
			t.Fatal(err)
		}
		checkCells(t, text, book)
		if m := local.Find(file); m != nil {
			t.Errorf("%s has %q, which is of one machine or one run", name, m)
		}
		if again, err := book.JSON(); err != nil || string(again) != string(file) {
			t.Errorf("%s is not as package cells writes it: %v", name, err)
		}
	}
	if total > 4<<20 {
		t.Errorf("the executed copies take %d bytes: want 4 MB at most; draw fewer or lighter pictures", total)
	}
	all, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		if !names[filepath.Base(file)] {
			t.Errorf("%s has no text in %s: remove it", file, notebooks)
		}
	}
}
