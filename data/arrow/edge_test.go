// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package arrow_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/data/arrow"
	"github.com/euryale-dev/euryale/tensor"
)

// Every row is in the file, also one that is alone in its batch.
func TestEveryRowIsWritten(t *testing.T) {
	for _, rows := range []int{1, 4, 5, 8} {
		name := filepath.Join(t.TempDir(), "a.arrow")
		w, err := arrow.Create(name, []arrow.Column{{Name: "a"}}, arrow.Settings{Rows: 4})
		must(t, err)
		for i := range rows {
			must(t, w.Append(0, i, []float64{math.Pi + float64(i)}))
		}
		must(t, w.Close())
		text, err := os.ReadFile(name)
		must(t, err)
		for i := range rows {
			if !bytes.Contains(text, binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.Pi+float64(i)))) {
				t.Errorf("%d rows: row %d is missing", rows, i)
			}
		}
	}
}

// A tree that cannot be written is an error.
func TestTreeWhereNoFileCanBe(t *testing.T) {
	tree, post := tensor.NewDataTree(), tensor.NewDataset("posterior")
	must(t, post.Add("mu", []float64{1, 2}, tensor.Shape{1, 2}, "chain", "draw"), tree.Add(post))
	if err := arrow.Write(filepath.Join(t.TempDir(), "no", "a.arrow"), tree, arrow.Settings{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// One parameter and one chain are the least that a table is made of, statistics included.
func TestTreeOfOneParameter(t *testing.T) {
	tree, post, stats := tensor.NewDataTree(), tensor.NewDataset("posterior"), tensor.NewDataset("sample_stats")
	must(t, post.Add("mu", []float64{1, 2}, tensor.Shape{1, 2}, "chain", "draw"), stats.Add("lp", []float64{3, 4}, tensor.Shape{1, 2}, "chain", "draw"),
		tree.Add(post), tree.Add(stats))
	name := filepath.Join(t.TempDir(), "a.arrow")
	must(t, arrow.Write(name, tree, arrow.Settings{}))
	text, err := os.ReadFile(name)
	must(t, err)
	for _, column := range []string{"mu", "lp"} {
		if !bytes.Contains(text, []byte(column)) {
			t.Errorf("no column %s", column)
		}
	}
}

// A table has the columns that were asked for and no others, with texts among numbers.
func TestTable(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.arrow")
	columns := []arrow.Column{{Name: "file", Type: arrow.Text}, {Name: "bin", Type: arrow.Int64}, {Name: "q"}, {Name: "note", Type: arrow.Text}}
	w, err := arrow.CreateTable(name, columns, arrow.Settings{Rows: 2})
	must(t, err)
	for i, file := range []string{"a.hdf", "", "b\xff.hdf", "ü.hdf", "c"} {
		must(t, w.AppendRow([]float64{float64(i), math.Pi * float64(i)}, []string{file, "n"}))
	}
	must(t, w.Close())
	text, err := os.ReadFile(name)
	must(t, err)
	for _, want := range []string{"file", "a.hdf", "b\uFFFD.hdf", "ü.hdf", "note"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %q", want)
		}
	}
	if bytes.Contains(text, []byte("chain")) {
		t.Error("a table has chains")
	}
	w, err = arrow.CreateTable(filepath.Join(t.TempDir(), "b.arrow"), columns, arrow.Settings{})
	must(t, err)
	if w.AppendRow([]float64{1}, []string{"a", "b"}) == nil || w.Close() == nil {
		t.Error("a row of too few numbers was taken")
	}
	w, err = arrow.CreateTable(filepath.Join(t.TempDir(), "c.arrow"), columns, arrow.Settings{})
	must(t, err)
	if w.Append(0, 0, []float64{1, 2}) == nil {
		t.Error("a table took a draw")
	}
	w.Discard()
	if _, err := arrow.Create(filepath.Join(t.TempDir(), "d.arrow"), columns, arrow.Settings{}); err == nil {
		t.Error("draws took texts")
	}
}
