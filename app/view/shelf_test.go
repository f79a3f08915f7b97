// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/runlock"
	"github.com/euryale-dev/euryale/viz"
)

// known is a field that shows every folder.
var known = []frame.Field{{Look: func(_ string, folder bool) *frame.Look {
	if !folder {
		return nil
	}
	return &frame.Look{Kind: "Runs"}
}}}

// A run that ends is seen to end, although its files stay as they were.
func TestRunsEndWithoutAChangeOfFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	lock, _, err := runlock.Acquire(dir, "sample")
	if err != nil {
		t.Fatal(err)
	}
	s, err := newShelf(known, []string{filepath.Dir(dir)})
	if err != nil {
		t.Fatal(err)
	}
	before, _ := s.find(dir)
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(dir, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.at = time.Time{}
	s.mu.Unlock()
	_, _, rev := s.list()
	after, _ := s.find(dir)
	if !before.Busy || after.Busy || before.State == after.State || rev == 0 {
		t.Errorf("%+v, then %+v, after %d changes", before, after, rev)
	}
}

// A picture that is kept is shown while others are drawn, and one whose reader has left is not kept.
func TestKeptPicturesWaitForNone(t *testing.T) {
	p := newPictures(nil, "euryale")
	for range atOnce {
		p.drawing <- struct{}{} // commands that take long
	}
	f, err := viz.Fit(viz.Curve{X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}, Line: []float64{1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	kept, _ := p.keep("plot\x00x\x00stamp")
	kept.figure = f
	close(kept.ready)
	shown := false
	if err := p.show(t.Context(), wish{args: []string{"plot", "x"}, panel: -1}, "stamp", func(*viz.Figure, string) error { shown = true; return nil }); err != nil || !shown {
		t.Errorf("%v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.show(gone, wish{args: []string{"plot", "y"}, panel: -1}, "stamp", nil); !errors.Is(err, context.Canceled) || len(p.list) != 1 {
		t.Errorf("%v, %d pictures are kept", err, len(p.list))
	}
}

// Pictures of few rows are made narrower so that a window holds them, and panels that flow go into fewer columns where there is little room.
func TestPicturesFitTheWindow(t *testing.T) {
	c := viz.Curve{X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}, Line: []float64{1, 2, 3}}
	one, err := viz.Fit(c)
	if err != nil {
		t.Fatal(err)
	}
	many, err := viz.Grid([]viz.Curve{c, c, c, c, c, c, c, c, c})
	if err != nil {
		t.Fatal(err)
	}
	p := newPictures(nil, "euryale")
	for name, f := range map[string]*viz.Figure{"one": one, "many": many} {
		k, _ := p.keep("plot\x00" + name + "\x00")
		k.figure = f
		close(k.ready)
	}
	look := func(w wish) (width, height float64, rows int) {
		t.Helper()
		w.panel = -1
		if err := p.show(t.Context(), w, "", func(f *viz.Figure, _ string) error { width, height, rows = f.Width, f.Height, f.Rows(); return nil }); err != nil {
			t.Fatal(err)
		}
		return
	}
	if w, h, _ := look(wish{args: []string{"plot", "one"}, width: 12, tallest: 6}); w >= 12 || h > 6.01 || w < legible {
		t.Errorf("%g by %g inches", w, h)
	}
	if w, h, _ := look(wish{args: []string{"plot", "one"}, width: 12}); w != 12 || h <= 6 {
		t.Errorf("%g by %g inches", w, h)
	}
	if _, _, rows := look(wish{args: []string{"plot", "many"}, width: 4.2, tallest: 6}); rows != 5 {
		t.Errorf("%d rows", rows)
	}
	if _, _, rows := look(wish{args: []string{"plot", "many"}, width: 12}); rows != many.Rows() {
		t.Errorf("%d rows", rows)
	}
}
