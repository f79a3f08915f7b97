// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/runs"
)

// A folder of images is written, taken up again, and knows what it is of.
func TestSimulation(t *testing.T) {
	dir, ctx := particle(t), context.Background()
	file, out := filepath.Join(dir, "particle.h5"), filepath.Join(dir, "out")
	open := func(how morph.SimulationSettings) *morph.Simulation {
		t.Helper()
		x, err := morph.OpenExperiment(dir, file, morph.ExperimentSettings{Parity: how.Parity})
		if err != nil {
			t.Fatal(err)
		}
		s, err := morph.NewSimulation(x, out, how, 1)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open(morph.SimulationSettings{})
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.Transform(ctx); err != nil {
		t.Fatal(err)
	}
	var done []int
	if err := s.Write(ctx, []bool{true, false, true}, func(e int, v []float64) { done = append(done, e) }); err != nil || !slices.Equal(done, []int{0, 2}) {
		t.Fatal(err, done)
	}
	s = open(morph.SimulationSettings{})
	if len(s.Kept(0)) != 24*24 || s.Kept(1) != nil || open(morph.SimulationSettings{Precision: 64}).Kept(0) != nil {
		t.Error("the files that are there are not those that are kept")
	}
	if err := s.Transform(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(ctx, nil, nil); err != nil || s.Kept(1) == nil {
		t.Fatal(err)
	}
	record, err := s.Record(file)
	if err != nil {
		t.Fatal(err)
	}
	if before, err := morph.ReadSimulationRecord(out); err != nil || before != nil {
		t.Error(before, err)
	}
	if _, err := morph.FindVoxel(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if a, err := morph.FindVoxel(out); err != nil || a != 3.5 { // by the log beside the morphology
		t.Error(a, err)
	}
	if err := runs.WriteJSON(filepath.Join(out, morph.SimulationRecordFile), record); err != nil {
		t.Fatal(err)
	}
	before, err := morph.ReadSimulationRecord(out)
	if err != nil || record.Differences(before) != nil {
		t.Fatal(err, record.Differences(before))
	}
	other, err := open(morph.SimulationSettings{CollapseZ: true}).Record(file)
	if err != nil || !slices.Equal(other.Differences(before), []string{"flags"}) {
		t.Error(err, other.Differences(before))
	}
	if a, err := morph.VoxelOf(file); err != nil || a != 3.5 {
		t.Error(a, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Write(cancelled, nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
