package nexus

import (
	"io"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// Flavour is the family of programs that wrote a file.
type Flavour string

// The flavours.
const (
	Nexus   Flavour = "nexus"
	Legacy  Flavour = "legacy"
	Unknown Flavour = "unknown"
)

// Analysis is a kind of correlation.
type Analysis string

// The kinds.
const (
	MultitauAnalysis Analysis = "Multitau"
	TwotimeAnalysis  Analysis = "Twotime"
)

// Result is one analysed measurement.
type Result struct {
	File    string // as given to Open
	Flavour Flavour
	Start   string // of the measurement, as in the file

	FrameTime float64 // s from frame to frame, t0
	CountTime float64 // s of exposure, t1; NaN if unknown
	Energy    float64 // keV; NaN if unknown
	PixelX    float64 // m; NaN if unknown
	PixelY    float64 // m; NaN if unknown

	QMap     *QMap
	Multitau *Multitau // nil if absent
	Twotime  *Twotime  // nil if absent

	Trace    *Trace    // intensity against time; nil if absent
	SAXS     []float64 // mean counts of each populated static bin; nil if absent
	Segments *Matrix   // (parts, populated static bins): SAXS of parts of the measurement; nil if absent
	Image    *Matrix   // (row, column) mean counts per pixel; nil until ReadImage

	Attrs    map[string]string // text attributes of the file, such as a note on where data come from
	Metadata map[string]string // text below /entry/instrument/bluesky/metadata

	file *hdf5.File
}

// Trace is the mean intensity of the detector against time.
type Trace struct {
	Frame []float64 // number of the frame
	Mean  []float64 // counts per pixel
}

// Open reads a result file. Images and two-time maps are read when asked for,
// so the file stays open until Close.
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

// Read makes a Result of size bytes behind r, which stay needed until Close.
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

// Analyses lists what the file holds, two-time first.
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

// Label is a short name made of the file's: see FileID.
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

// Bins is the number of dynamic bins of the multi-tau correlation.
func (r *Result) Bins() int {
	if r.Multitau == nil || r.Multitau.G2 == nil {
		return 0
	}
	return r.Multitau.G2.Cols
}

// HDF5 returns the file behind the Result, for keys this package does not know.
// It is nil for a Result that was not opened.
func (r *Result) HDF5() *hdf5.File { return r.file }
