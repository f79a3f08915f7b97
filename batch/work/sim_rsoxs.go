// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/runs"
)

// simRSoXS simulates scattering: one item is one energy of one morphology, and leaves its images in
// images/MORPHOLOGY/Energy_E.EE.h5, as sim rsoxs does.
type simRSoXS struct {
	Files                    Texts  `yaml:"files" json:"-"`               // morphologies
	Experiment               string `yaml:"experiment" json:"experiment"` // folder of config.txt and Material*.txt. Default: that of the configuration
	morph.SimulationSettings `yaml:",inline"`

	Energies int `yaml:"-" json:"energies"`
}

func (s *simRSoXS) check() error { return s.SimulationSettings.Check() }

// wide says that an item uses all threads by itself.
func (s *simRSoXS) wide() bool { return true }

// block keeps the energies of a morphology together, which share its transform.
func (s *simRSoXS) block() int64 { return int64(max(1, s.Energies)) }

func (s *simRSoXS) resolve(p place, _ *batch.Header) error {
	if !filepath.IsAbs(s.Experiment) {
		var err error
		if s.Experiment, err = p.relative(filepath.Join(p.folder, s.Experiment)); err != nil {
			return err
		}
	}
	c, _, err := cyrsoxs.ReadConfig(filepath.Join(located(p.manifest, s.Experiment), "config.txt"))
	if err != nil {
		return err
	}
	s.Energies = len(c.Energies)
	return nil
}

// inputs are the settings and the optical constants of the experiment, beside the morphologies.
func (s *simRSoXS) inputs(folder string) (names []string, err error) {
	entries, err := os.ReadDir(located(folder, s.Experiment))
	for _, e := range entries {
		if n := e.Name(); n == "config.txt" || strings.HasPrefix(n, "Material") && strings.HasSuffix(n, ".txt") {
			names = append(names, filepath.ToSlash(filepath.Join(s.Experiment, n)))
		}
	}
	return names, err
}

// imageFolder is the folder of the images of a morphology: its path without what leads out of a folder.
func imageFolder(source string) string {
	name := filepath.ToSlash(strings.TrimSuffix(source, filepath.Ext(source)))
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		if part != "" && part != "." && part != ".." {
			parts = append(parts, strings.ReplaceAll(part, ":", "_"))
		}
	}
	return filepath.Join(parts...)
}

func (s *simRSoXS) list(p place, add adder) error {
	files, err := p.files(s.Files)
	if err != nil {
		return err
	}
	taken := map[string]string{}
	for _, f := range files {
		folder := imageFolder(f)
		if other, ok := taken[folder]; ok {
			return fmt.Errorf("the images of %s and %s would be written to the same folder, %s: rename one of the files", other, f, folder)
		}
		taken[folder] = f
		if err := add(f, 0, int64(s.Energies)); err != nil {
			return err
		}
	}
	return nil
}

func (s *simRSoXS) open(m *batch.Manifest, env Env) (batch.Task, error) {
	return &simRSoXSTask{simRSoXS: s, m: m, env: env}, nil
}

type simRSoXSTask struct {
	*simRSoXS
	m   *batch.Manifest
	env Env

	mu   sync.Mutex // held while one works: an item uses all threads
	name string     // of the morphology that is open
	sim  *morph.Simulation
}

// Columns returns the name of the image file and the quantities that summarise it.
func (t *simRSoXSTask) Columns() []batch.Column {
	return []batch.Column{{Name: "morphology", Kind: batch.Text}, {Name: "energy", Unit: "eV"}, {Name: "image", Kind: batch.Text}, {Name: "valid_pixels", Kind: batch.Integer},
		{Name: "max_intensity"}, {Name: "mean_intensity"}, {Name: "checksum", Kind: batch.Text}}
}

// Do simulates one morphology at some energies.
func (t *simRSoXSTask) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.simulation(ctx, items.Source)
	if err != nil {
		return err
	}
	todo := make([]bool, len(s.Files))
	for i := range items.Count {
		if k := items.Row + i; k < int64(len(todo)) {
			todo[k] = true
		} else {
			put(batch.Record{Item: items.Item + i, Err: fmt.Sprintf("there is no energy %d: the experiment has %d", k+1, len(todo))})
		}
	}
	return s.Write(ctx, todo, func(e int, v []float64) {
		put(t.record(items.Item+int64(e)-items.Row, items.Source, e, v))
	})
}

// simulation returns the simulation of a morphology, with its transform. One is kept.
func (t *simRSoXSTask) simulation(ctx context.Context, source string) (*morph.Simulation, error) {
	if t.name == source {
		return t.sim, nil
	}
	t.name, t.sim = "", nil
	file := path(t.m, source)
	x, err := morph.OpenExperiment(path(t.m, t.Experiment), file, morph.ExperimentSettings{Parity: t.Parity, Double: t.Precision == 64})
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(t.env.Folder, "images", imageFolder(source))
	set := t.SimulationSettings
	set.Backend = t.env.Backend
	s, err := morph.NewSimulation(x, dir, set, t.env.Threads)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	record, err := s.Record(file)
	if err != nil {
		return nil, err
	}
	record.Command = "sim rsoxs"
	if err := runs.WriteJSON(filepath.Join(dir, morph.SimulationRecordFile), record); err != nil {
		return nil, err
	}
	for _, w := range s.Warnings {
		t.note("%s: %s", source, w)
	}
	if s.Checks != nil {
		t.note("%s: %s", source, s.Checks)
	}
	if err := s.Transform(ctx); err != nil {
		return nil, err
	}
	t.name, t.sim = source, s
	return s, nil
}

func (t *simRSoXSTask) note(format string, args ...any) {
	if t.env.Note != nil {
		t.env.Note(fmt.Sprintf(format, args...))
	}
}

func (t *simRSoXSTask) record(item int64, source string, e int, v []float64) batch.Record {
	sum, largest, valid := 0.0, math.Inf(-1), 0
	h := fnv.New64a()
	var b [8]byte
	for _, x := range v {
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(x))
		h.Write(b[:])
		if !math.IsNaN(x) {
			valid++
			sum += x
			largest = max(largest, x)
		}
	}
	return batch.Record{Item: item, Numbers: []float64{t.sim.Config.Energies[e], float64(valid), largest, sum / float64(valid)},
		Texts: []string{source, filepath.ToSlash(filepath.Join("images", imageFolder(source), t.sim.Files[e])), fmt.Sprintf("%016x", h.Sum64())}}
}

func (s *simRSoXS) values() []string { return []string{"max_intensity", "mean_intensity"} }
