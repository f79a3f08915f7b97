// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"io"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// Flavour is the family of programs that wrote a result file.
type Flavour string

// The flavours.
const (
	Nexus   Flavour = "nexus"
	Legacy  Flavour = "legacy"
	Unknown Flavour = "unknown"
)

// Analysis is a kind of correlation.
type Analysis string

// The kinds of correlation.
const (
	MultitauAnalysis Analysis = "Multitau"
	TwotimeAnalysis  Analysis = "Twotime"
)

// AttrMisplaced is the attribute of results whose q map was made for another geometry than that of the frames; it says
// how they differ.
const AttrMisplaced = "geometry_differs"

// AttrReplaced is the attribute of results of movies of which frames were bad and were replaced: their numbers in the movie, counted from 0, such as
// 10,200-210.
const AttrReplaced = "replaced_frame_numbers"

// AttrBadFrames is the attribute of results of movies with a frame that no light makes; it says which.
const AttrBadFrames = "bad_frames"

// Result is one analysed measurement.
type Result struct {
	File    string // file name given to Open
	Flavour Flavour
	Start   string // start of the measurement, as in the file

	FrameTime float64 // time t0 from frame to frame in s
	CountTime float64 // exposure time t1 in s; NaN if unknown
	Energy    float64 // photon energy in keV; NaN if unknown
	PixelX    float64 // width of a pixel in m; NaN if unknown
	PixelY    float64 // height of a pixel in m; NaN if unknown

	QMap     *QMap
	Multitau *Multitau // multi-tau correlation; nil if absent
	Twotime  *Twotime  // two-time correlation; nil if absent

	Trace    *Trace    // intensity against time; nil if absent
	SAXS     []float64 // mean counts of each populated static bin; nil if absent
	Segments *Matrix   // SAXS of parts of the measurement, (parts, populated static bins); nil if absent
	Image    *Matrix   // mean counts per pixel, (row, column); nil until ReadImage

	Strays  []Stray       // single readings that are no photons, by bin; nil if there are none, or they are unknown
	Photons []PhotonNoise // noise of the counts of dynamic bins; nil if unknown, as where values are no counts

	Attrs    map[string]string // text attributes of the file, such as a note on the origin of the data
	Metadata map[string]string // text values below /entry/instrument/bluesky/metadata

	file *hdf5.File
}

// Trace is the mean intensity of the detector against time.
type Trace struct {
	Frame []float64 // number of each frame
	Mean  []float64 // mean counts per pixel of each frame
}

// Open reads a result file. Images and two-time maps are read when they are asked for, so the file
// stays open until Close.
func Open(name string) (*Result, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	r, err := read(f, name)
	if err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// Read makes a Result from the size bytes that r provides. r must stay readable until Close.
func Read(r io.ReaderAt, size int64) (*Result, error) {
	f, err := hdf5.Read(r, size)
	if err != nil {
		return nil, err
	}
	return read(f, f.Name())
}

// Close closes the file behind a Result.
func (r *Result) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Analyses lists the correlations in the file, two-time first.
func (r *Result) Analyses() []Analysis {
	var all []Analysis
	if r.Twotime != nil {
		all = append(all, TwotimeAnalysis)
	}
	if r.Multitau != nil {
		all = append(all, MultitauAnalysis)
	}
	return all
}

// Label returns a short name derived from the file's name: see FileID.
func (r *Result) Label() string { return FileID(filepath.Base(r.File), "") }

// Delays returns the delays of the multi-tau correlation in seconds.
func (r *Result) Delays() []float64 {
	if r.Multitau == nil {
		return nil
	}
	step := r.FrameTime * r.Multitau.frames()
	t := make([]float64, len(r.Multitau.Delay))
	for i, d := range r.Multitau.Delay {
		t[i] = d * step
	}
	return t
}

// TwotimeDelays returns the delays of the first n diagonals of two-time maps in seconds, from 0 on.
// They are computed from the time between frames: what files list as Twotime.Delay differs between
// programs and may be missing.
func (r *Result) TwotimeDelays(n int) []float64 {
	t := make([]float64, n)
	for i := range t {
		t[i] = float64(i) * r.FrameTime * r.Twotime.frames()
	}
	return t
}

// Bins returns the number of dynamic bins of the multi-tau correlation.
func (r *Result) Bins() int {
	if r.Multitau == nil || r.Multitau.G2 == nil {
		return 0
	}
	return r.Multitau.G2.Cols
}

// HDF5 returns the file behind the Result, for keys that this package does not know. It is nil for a
// Result that was not opened.
func (r *Result) HDF5() *hdf5.File { return r.file }
