// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/xpcs"
)

// correlateFrames correlates movies: one item is one file of frames, and leaves results/NAME_results.hdf, as
// correlate does.
type correlateFrames struct {
	Files        Texts `yaml:"files" json:"-"` // files of frames
	xpcs.Request `yaml:",inline"`
	QMap         string  `yaml:"qmap" json:"qmap"`
	Metadata     string  `yaml:"metadata" json:"metadata"`     // HDF5 file with times and geometry. Default: each file of frames
	FrameTime    float64 `yaml:"frame_time" json:"frame_time"` // s. Default: what the metadata say
	Bins         binList `yaml:"bins" json:"bins,omitempty"`   // of the two-time correlation. Default all
	Dataset      string  `yaml:"dataset" json:"dataset"`       // of HDF5 files
	Format       string  `yaml:"format" json:"format"`         // format of the frames, as euryale correlate --format takes it
	Height       int     `yaml:"height" json:"height"`         // rows of a frame of raw and rigaku files
	Width        int     `yaml:"width" json:"width"`           // columns
	Type         string  `yaml:"type" json:"type"`             // of the numbers of raw files
}

func (s *correlateFrames) check() error {
	if s.Correlation == "" || s.Correlation == "multitau" {
		for _, given := range []struct {
			name string
			is   bool
		}{{"bins", len(s.Bins) > 0}, {"smooth", s.Smooth != ""}, {"no-age-errors", s.NoAgeErrors}} {
			if given.is {
				return &setting.Error{Name: given.name, Text: "does nothing without correlation both: leave it out, or add correlation: both"}
			}
		}
	}
	if err := s.Check(); err != nil {
		return err
	}
	switch {
	case s.QMap == "":
		return fmt.Errorf("qmap is missing: name the q-map file, which euryale qmap makes")
	case !(s.FrameTime >= 0):
		return fmt.Errorf("frame_time is %g: want a time in s above 0", s.FrameTime)
	}
	return nil
}

// numbers returns the bins of the list, nil for all.
func (b binList) numbers() (all []int) {
	for _, r := range b {
		for i := r.First; i <= r.Last; i++ {
			all = append(all, i)
		}
	}
	return all
}

// wide says that an item uses all threads by itself.
func (s *correlateFrames) wide() bool { return true }

func (s *correlateFrames) block() int64 { return 1 }

func (s *correlateFrames) resolve(p place, _ *batch.Header) error {
	for _, name := range []*string{&s.QMap, &s.Metadata} {
		if *name == "" || filepath.IsAbs(*name) {
			continue
		}
		var err error
		if *name, err = p.relative(filepath.Join(p.folder, *name)); err != nil {
			return err
		}
	}
	q, err := nexus.OpenQMap(located(p.manifest, s.QMap))
	if err != nil {
		return err
	}
	return q.Check()
}

// inputs are the map of the detector and the metadata, beside the frames.
func (s *correlateFrames) inputs(string) ([]string, error) {
	if s.Metadata == "" {
		return []string{s.QMap}, nil
	}
	return []string{s.QMap, s.Metadata}, nil
}

func (s *correlateFrames) list(p place, add adder) error {
	files, err := p.files(s.Files)
	if err != nil {
		return err
	}
	taken := map[string]string{}
	for _, f := range files {
		name := imageFolder(f)
		if other, ok := taken[name]; ok {
			return fmt.Errorf("the results of %s and %s would have the same name, %s: rename one of the files", other, f, name)
		}
		taken[name] = f
		if err := add(f, 0, 1); err != nil {
			return err
		}
	}
	return nil
}

func (s *correlateFrames) open(m *batch.Manifest, env Env) (batch.Task, error) {
	q, err := nexus.OpenQMap(path(m, s.QMap))
	if err != nil {
		return nil, err
	}
	return &correlateTask{correlateFrames: s, m: m, env: env, qmap: q}, nil
}

type correlateTask struct {
	*correlateFrames
	m    *batch.Manifest
	env  Env
	qmap *nexus.QMap
	mu   sync.Mutex // held while one works: an item uses all threads
}

// Columns returns the name of the result file and the quantities that summarise it.
func (t *correlateTask) Columns() []batch.Column {
	return []batch.Column{{Name: "frames_file", Kind: batch.Text}, {Name: "result", Kind: batch.Text}, {Name: "frames", Kind: batch.Integer}, {Name: "replaced_frames", Kind: batch.Integer},
		{Name: "bins", Kind: batch.Integer}, {Name: "mean_counts"}, {Name: "g2_first_delay_bin1"}, {Name: "note", Kind: batch.Text}}
}

// Do correlates one movie.
func (t *correlateTask) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range items.Count {
		r, err := t.one(ctx, items.Source)
		if err != nil && ctx.Err() != nil {
			return err
		}
		if r.Item = items.Item + i; err != nil {
			r = batch.Record{Item: r.Item, Err: err.Error()}
		}
		put(r)
	}
	return nil
}

func (t *correlateTask) one(ctx context.Context, source string) (batch.Record, error) {
	file, err := frames.Open(path(t.m, source), frames.Settings{Dataset: t.Dataset, Format: t.Format, Height: t.Height, Width: t.Width, Type: t.Type})
	if err != nil {
		return batch.Record{}, err
	}
	defer file.Close()
	meta := file.Metadata()
	if t.Metadata != "" {
		own := meta
		if meta, err = frames.ReadMetadata(path(t.m, t.Metadata)); err != nil {
			return batch.Record{}, err
		}
		meta.Complete(own)
	}
	if t.FrameTime > 0 {
		meta.FrameTime = t.FrameTime
	}
	if err := meta.FaultOf("FrameTime"); err != nil && math.IsNaN(meta.FrameTime) {
		return batch.Record{}, fmt.Errorf("%w; or set frame_time", err)
	}
	if math.IsNaN(meta.FrameTime) {
		return batch.Record{}, fmt.Errorf("%s does not give the time between frames: set frame_time, or metadata", source)
	}
	name := filepath.Join("results", imageFolder(source)+"_results.hdf")
	out := filepath.Join(t.env.Folder, name)
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return batch.Record{}, err
	}
	j := t.Job()
	j.Frames, j.Map, j.Metadata, j.FrameTime, j.CountTime, j.Start = file, t.qmap, meta, meta.FrameTime, meta.CountTime, meta.Start
	j.Settings.Bins, j.Settings.Threads, j.Settings.Backend = t.Bins.numbers(), t.env.Threads, t.env.Backend
	done, err := xpcs.Correlate(ctx, j, out)
	if err != nil {
		return batch.Record{}, err
	}
	return t.record(source, filepath.ToSlash(name), done), nil
}

func (t *correlateTask) record(source, result string, done *xpcs.Done) batch.Record {
	mean, first, note := math.NaN(), math.NaN(), ""
	if m := done.Result.Multitau; m != nil {
		sum := 0.0
		for _, v := range done.Result.Trace.Mean {
			sum += v
		}
		mean, first = sum/float64(len(done.Result.Trace.Mean)), m.G2.At(0, 0)
	}
	if done.Lost != nil {
		note = done.Lost.Error()
	} else if done.Missing != "" {
		note = done.Missing
	}
	return batch.Record{Numbers: []float64{float64(done.Frames), float64(len(done.Replaced)), float64(done.Result.QMap.Dynamic.Bins()), mean, first}, Texts: []string{source, result, note}}
}

func (t *correlateFrames) values() []string { return []string{"mean_counts", "g2_first_delay_bin1"} }
