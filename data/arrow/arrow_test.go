// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package arrow_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/euryale-dev/euryale/data/arrow"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/tensor"
)

var update = flag.Bool("update", false, "write the golden file again")

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// sample writes 10 rows in batches of 4.
func sample(t *testing.T, name string) {
	t.Helper()
	w, err := arrow.Create(name, []arrow.Column{{Name: "lp"}, {Name: "n", Type: arrow.Int64}, {Name: "diverging", Type: arrow.Bool}, {Name: "θ[a, b]"}},
		arrow.Settings{Rows: 4, Attrs: map[string]string{"inference_library": "euryale", "creation_library": "euryale"}})
	must(t, err)
	for i := range 10 {
		x := []float64{math.Sqrt(float64(i)), float64(i) - 3.5, float64(i % 3), -float64(i)}
		switch i {
		case 4:
			x[0], x[1] = math.NaN(), math.NaN()
		case 5:
			x[0], x[1] = math.Inf(-1), math.Inf(1)
		}
		must(t, w.Append(i%2, i/2, x))
	}
	must(t, w.Close(), w.Close())
}

// The golden file is one that pyarrow 26 reads: TestPyArrowOpensOurs.
func TestGolden(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.arrow")
	sample(t, name)
	got, err := os.ReadFile(name)
	must(t, err)
	golden := filepath.Join("testdata", "sample.golden.arrow")
	if *update {
		must(t, os.WriteFile(golden, got, 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes differ from the golden %d; look at them with pyarrow, then -update", len(got), len(want))
	}
}

func TestTree(t *testing.T) {
	tree := tensor.NewDataTree()
	post, stats := tensor.NewDataset("posterior"), tensor.NewDataset("sample_stats")
	must(t, post.AddCoord("school", []string{"a", "b"}), post.Add("theta", []float64{1, 2, 3, 4, 5, 6, 7, 8}, tensor.Shape{2, 2, 2}, "chain", "draw", "school"),
		stats.Add("diverging", []bool{true, false, false, true}, tensor.Shape{2, 2}, "chain", "draw"), stats.Add("step", []float64{1, 2}, tensor.Shape{2}, "chain"), tree.Add(post), tree.Add(stats))
	name := filepath.Join(t.TempDir(), "a.arrow")
	must(t, arrow.Write(name, tree, arrow.Settings{}))
	b, err := os.ReadFile(name)
	must(t, err)
	for _, column := range []string{"chain", "draw", "diverging", "theta[a]", "theta[b]"} {
		if !bytes.Contains(b, []byte(column)) {
			t.Errorf("no column %s", column)
		}
	}
	if bytes.Contains(b, []byte("step")) {
		t.Error("a statistic without draws became a column")
	}
	for _, bad := range []*tensor.DataTree{tensor.NewDataTree(), func() *tensor.DataTree {
		e := tensor.NewDataTree()
		must(t, e.Add(tensor.NewDataset("posterior")))
		return e
	}()} {
		if err := arrow.Write(filepath.Join(t.TempDir(), "x"), bad, arrow.Settings{}); err == nil {
			t.Error("a tree without draws was written")
		}
	}
}

func TestMisuse(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.arrow")
	for _, columns := range [][]arrow.Column{{{Name: "draw"}}, {{Name: ""}}, {{Name: "a"}, {Name: "a"}}, {{Name: "a", Type: 9}}, {{Name: "\xff"}}} {
		if _, err := arrow.Create(name, columns, arrow.Settings{}); err == nil || !strings.Contains(err.Error(), "use names") {
			t.Errorf("%v: %v", columns, err)
		}
	}
	for _, rows := range []int{-1, 1<<24 + 1} {
		if _, err := arrow.Create(name, nil, arrow.Settings{Rows: rows}); err == nil {
			t.Errorf("batches of %d rows", rows)
		}
	}
	w, err := arrow.Create(name, []arrow.Column{{Name: "a"}}, arrow.Settings{})
	must(t, err)
	first := w.Append(0, 0, []float64{1, 2})
	if first == nil || !strings.Contains(first.Error(), "2 values, but there are 1 columns") || w.Append(0, 0, []float64{1}) != first || w.Close() != first {
		t.Errorf("%v", first)
	}
	w.Discard()
	w.Discard()
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
	sample(t, name)
	if _, err := arrow.Create(name, nil, arrow.Settings{}); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	w, err = arrow.Create(name, nil, arrow.Settings{Overwrite: true})
	must(t, err, w.Append(1, 2, nil), w.Close())
	if err := w.Append(1, 2, nil); err == nil || !strings.Contains(err.Error(), "is already closed") {
		t.Error(err)
	}
	if _, err := arrow.Create(filepath.Join(dir, "no", "a"), nil, arrow.Settings{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestManyGoroutines(t *testing.T) {
	w, err := arrow.Create(filepath.Join(t.TempDir(), "a.arrow"), []arrow.Column{{Name: "x"}}, arrow.Settings{Rows: 16})
	must(t, err)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for c := range 4 {
		wg.Go(func() {
			for d := range 100 {
				errs[c] = errors.Join(errs[c], w.Append(c, d, []float64{1}))
			}
		})
	}
	wg.Wait()
	must(t, errs...)
	must(t, w.Close())
}

const read = `
import sys, pyarrow as pa, pyarrow.feather as feather
for name in sys.argv[1:]:
    t = feather.read_table(name)
    t.validate(full=True)
    assert t.schema.metadata[b"inference_library"] == b"euryale", t.schema.metadata
    assert [str(f.type) for f in t.schema] == ["int64", "int64", "double", "int64", "bool", "double"], t.schema
    with pa.ipc.open_file(name) as f: assert f.num_record_batches == 3
    print(t.column_names, t.column("chain").to_pylist(), t.column("n").to_pylist(), t.column("diverging").to_pylist(), t.column("θ[a, b]").to_pylist())
    x = t.column("lp").to_pylist()
    assert x[4] != x[4] and x[5] == float("-inf") and x[9] == 3.0 and t.column("draw").to_pylist()[9] == 4 and t.column("lp").null_count == 0
`

func TestPyArrowOpensOurs(t *testing.T) {
	py := peer.Python(t, "pyarrow")
	name := filepath.Join(t.TempDir(), "a.arrow")
	sample(t, name)
	line := fmt.Sprintf("['chain', 'draw', 'lp', 'n', 'diverging', 'θ[a, b]'] [0, 1, 0, 1, 0, 1, 0, 1, 0, 1] [-3, -2, -1, 0, 0, %d, 2, 3, 4, 5] [False, True, True, False, True, True, False, True, True, False] [-0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0, -9.0]\n", math.MaxInt64)
	if out := py.Run(t, read, name, filepath.Join("testdata", "sample.golden.arrow")); out != line+line {
		t.Errorf("pyarrow found\n%s, want\n%s", out, line)
	}
	empty := filepath.Join(t.TempDir(), "e.arrow")
	w, err := arrow.Create(empty, []arrow.Column{{Name: "x"}}, arrow.Settings{})
	must(t, err, w.Close())
	if out := py.Run(t, "import sys, pyarrow.feather as f\nprint(f.read_table(sys.argv[1]).shape)", empty); out != "(0, 3)\n" {
		t.Errorf("an empty table is %s", out)
	}
}

func BenchmarkAppend(b *testing.B) {
	columns := make([]arrow.Column, 100)
	for i := range columns {
		columns[i].Name = fmt.Sprint("x", i)
	}
	w, err := arrow.Create(filepath.Join(b.TempDir(), "a.arrow"), columns, arrow.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	row := make([]float64, 100)
	for i := 0; b.Loop(); i++ {
		if err := w.Append(0, i, row); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "draws/s")
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
