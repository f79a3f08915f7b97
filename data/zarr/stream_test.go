// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// layout is the tree of a run before its first draw.
func layout(t *testing.T) *tensor.DataTree {
	t.Helper()
	tree := tensor.NewDataTree()
	post, stats, data := tensor.NewDataset("posterior"), tensor.NewDataset("sample_stats"), tensor.NewDataset("observed_data")
	post.Attrs["inference_library"] = "euryale"
	must(t, post.AddCoord("school", []string{"a", "b"}), post.Add("theta", []float64{}, tensor.Shape{3, 0, 2}, "chain", "draw", "school"),
		post.Add("mu", []float64{}, tensor.Shape{3, 0}, "chain", "draw"),
		stats.Add("diverging", []bool{}, tensor.Shape{3, 0}, "chain", "draw"), stats.Add("n_steps", []int64{}, tensor.Shape{3, 0}, "chain", "draw"),
		data.Add("y", []float64{1, 2}, tensor.Shape{2}, "obs"), tree.Add(post), tree.Add(stats), tree.Add(data))
	return tree
}

// draw appends draws from to to-1 of a chain.
func draw(s *zarr.Stream, chain, from, to int) error {
	for d := from; d < to; d++ {
		x := float64(1000*chain + d)
		if err := s.Append("posterior", chain, 1, map[string]any{"theta": []float64{x, -x}, "mu": []float64{x / 2}}); err != nil {
			return err
		}
		if err := s.Append("sample_stats", chain, 1, map[string]any{"diverging": []bool{d%7 == 0}, "n_steps": []int64{int64(d)}}); err != nil {
			return err
		}
	}
	return nil
}

// checkDraws checks what draw wrote: n draws of 3 chains.
func checkDraws(t *testing.T, name string, n int) {
	t.Helper()
	tree, err := zarr.Open(name)
	must(t, err)
	post, err := tree.Group("posterior")
	must(t, err)
	stats, err := tree.Group("sample_stats")
	must(t, err)
	names, x := post.Draws()
	if !slices.Equal(names, []string{"theta[a]", "theta[b]", "mu"}) || len(x[0]) != 3 || len(x[0][0]) != n {
		t.Fatalf("%v", post)
	}
	for c := range 3 {
		for d := range n {
			v := float64(1000*c + d)
			if x[0][c][d] != v || x[1][c][d] != -v || x[2][c][d] != v/2 || stats.Var("n_steps").Data.([]int64)[c*n+d] != int64(d) || stats.Var("diverging").Data.([]bool)[c*n+d] != (d%7 == 0) {
				t.Fatalf("chain %d draw %d: %v %v", c, d, x[0][c][d], x[1][c][d])
			}
		}
	}
	if labels := post.Coord("draw").Data.([]int64); len(labels) != n || n > 0 && labels[n-1] != int64(n-1) || post.Coord("chain").Len() != 3 {
		t.Errorf("labels %v", labels)
	}
}

func TestStream(t *testing.T) {
	tier.SlowOnly(t)
	for _, z := range []int{0, 4} {
		for _, n := range tier.Of([]int{0, 1, 25, 30}, []int{0, 1, 10, 25, 30}) {
			name := filepath.Join(t.TempDir(), "s.zarr")
			s, err := zarr.Create(name, layout(t), zarr.Settings{ChunkDraws: 10, Zlib: z})
			must(t, err)
			var wg sync.WaitGroup
			errs := make([]error, 3)
			for c := range 3 {
				wg.Go(func() { errs[c] = draw(s, c, 0, n) })
			}
			wg.Wait()
			must(t, errs...)
			must(t, s.Close(), s.Close())
			checkDraws(t, name, n)
			if err := draw(s, 0, 0, 1); err == nil || !strings.Contains(err.Error(), "closed") {
				t.Error(err)
			}
			again, err := zarr.Reopen(name, map[string]int{"posterior": n, "sample_stats": n})
			must(t, err)
			must(t, draw(again, 0, n, n+1), draw(again, 1, n, n+1), draw(again, 2, n, n+1), again.Close())
			checkDraws(t, name, n+1)
		}
	}
}

// After Flush everything can be read, and the stream goes on.
func TestFlush(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.zarr")
	s, err := zarr.Create(name, layout(t), zarr.Settings{ChunkDraws: 10, Zlib: 1})
	must(t, err)
	for _, n := range []int{3, 17, 20, 26} {
		at := map[int]int{3: 0, 17: 3, 20: 17, 26: 20}[n]
		must(t, draw(s, 0, at, n), draw(s, 1, at, n), draw(s, 2, at, n), s.Flush())
		checkDraws(t, name, n)
	}
	again, err := zarr.Reopen(name, map[string]int{"posterior": 26, "sample_stats": 26})
	must(t, err)
	must(t, draw(again, 0, 26, 31), draw(again, 1, 26, 31), draw(again, 2, 26, 31), again.Close(), again.Flush())
	checkDraws(t, name, 31)
}

// Several draws at once are the same as one by one.
func TestStreamOfBlocks(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.zarr")
	tree := tensor.NewDataTree()
	d := tensor.NewDataset("posterior")
	must(t, d.Add("x", []float64{}, tensor.Shape{1, 0, 2}, "chain", "draw", "k"), tree.Add(d))
	s, err := zarr.Create(name, tree, zarr.Settings{ChunkDraws: 3})
	must(t, err)
	must(t, s.Append("posterior", 0, 4, map[string]any{"x": []float64{0, 1, 2, 3, 4, 5, 6, 7}}), s.Append("posterior", 0, 0, map[string]any{"x": []float64{}}),
		s.Append("posterior", 0, 1, map[string]any{"x": []float64{8, 9}}), s.Close())
	got, err := zarr.Open(name)
	must(t, err)
	if v := got.Groups()[0].Var("x"); !reflect.DeepEqual(v.Data, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("%v", v)
	}
}

// What a killed process leaves can be read, and continued at any draw that is
// in it.
func TestStreamIsKilledAndContinued(t *testing.T) {
	for _, z := range []int{0, 5} {
		name := filepath.Join(t.TempDir(), "s.zarr")
		s, err := zarr.Create(name, layout(t), zarr.Settings{ChunkDraws: 10, Zlib: z})
		must(t, err)
		must(t, draw(s, 0, 0, 47), draw(s, 1, 0, 33), draw(s, 2, 0, 28)) // and then silence
		checkDraws(t, name, 20)
		again, err := zarr.Reopen(name, map[string]int{"posterior": 17, "sample_stats": 17})
		must(t, err)
		checkDraws(t, name, 10)
		must(t, draw(again, 2, 17, 36), draw(again, 0, 17, 35), draw(again, 1, 17, 41), again.Close())
		checkDraws(t, name, 35)
		// A closed one goes on as well.
		again, err = zarr.Reopen(name, map[string]int{"posterior": 35, "sample_stats": 35})
		must(t, err)
		must(t, draw(again, 0, 35, 50), draw(again, 1, 35, 50), draw(again, 2, 35, 50), again.Close())
		checkDraws(t, name, 50)
		for want, draws := range map[string]map[string]int{"so 51 cannot be kept": {"posterior": 51}, `no group "x"`: {"x": 1}, "no variable with the axes": {"observed_data": 1}} {
			if _, err := zarr.Reopen(name, draws); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
	foreign := filepath.Join(t.TempDir(), "f.zarr")
	must(t, zarr.Write(foreign, sample(t), zarr.Settings{}))
	if _, err := zarr.Reopen(foreign, map[string]int{"posterior": 1}); err == nil || !strings.Contains(err.Error(), "not those of a stream") {
		t.Error(err)
	}
}

func TestStreamMisuse(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.zarr")
	row := map[string]any{"theta": []float64{1, 2}, "mu": []float64{1}}
	for want, f := range map[string]func(s *zarr.Stream) error{
		"no group":        func(s *zarr.Stream) error { return s.Append("prior", 0, 1, row) },
		"one of 3 chains": func(s *zarr.Stream) error { return s.Append("posterior", 3, 1, row) },
		"all 2 variables": func(s *zarr.Stream) error {
			return s.Append("posterior", 0, 1, map[string]any{"theta": []float64{1, 2}})
		},
		"want 4 of float64": func(s *zarr.Stream) error { return s.Append("posterior", 0, 2, row) },
		"elements of []int": func(s *zarr.Stream) error {
			return s.Append("posterior", 0, 1, map[string]any{"theta": []float64{1, 2}, "mu": []int{1}})
		},
	} {
		s, err := zarr.Create(name, layout(t), zarr.Settings{Overwrite: true})
		must(t, err)
		first := f(s)
		if first == nil || !strings.Contains(first.Error(), want) {
			t.Errorf("%v, want %q", first, want)
		}
		if err := s.Append("posterior", 0, 1, row); err != first || s.Close() != first {
			t.Errorf("the stream goes on after %v", first)
		}
	}
	if _, err := zarr.Create(name, sample(t), zarr.Settings{Overwrite: true}); err == nil || !strings.Contains(err.Error(), "begins with 0 draws") {
		t.Error(err)
	}
	if _, err := zarr.Create(name, layout(t), zarr.Settings{}); err == nil {
		t.Error("an existing store was taken")
	}
	// A disk that refuses ends the run with an error, not with a panic.
	s, err := zarr.Create(name, layout(t), zarr.Settings{Overwrite: true, ChunkDraws: 2})
	must(t, err)
	must(t, os.RemoveAll(filepath.Join(name, "posterior", "theta")))
	if err := draw(s, 0, 0, 3); err == nil {
		t.Error("a chunk went nowhere without an error")
	}
}

func BenchmarkStream(b *testing.B) {
	tree := tensor.NewDataTree()
	d := tensor.NewDataset("posterior")
	if err := d.Add("x", []float64{}, tensor.Shape{4, 0, 100}, "chain", "draw", "k"); err != nil {
		b.Fatal(err)
	}
	if err := tree.Add(d); err != nil {
		b.Fatal(err)
	}
	s, err := zarr.Create(filepath.Join(b.TempDir(), "s.zarr"), tree, zarr.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	values := map[string]any{"x": make([]float64, 100)}
	for i := 0; b.Loop(); i++ {
		if err := s.Append("posterior", i%4, 1, values); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "draws/s")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
