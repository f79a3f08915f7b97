// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor/events"
)

// Settings give what a file may not say itself. The zero value is the default.
type Settings struct {
	Format  string // name of the file format, one of Formats; default: found out from the first bytes and the name
	Dataset string // path of the frames within an HDF5 file; default: the usual places for detectors, or the only stack of images

	// Height and Width are the numbers of rows and columns of a frame. Raw files need them; for event
	// lists of Rigaku detectors, the default is 512 and 1024.
	Height, Width int
	Type          string // type of the numbers of a raw file, in NumPy's notation; default "<u2"
	Offset        int64  // number of bytes before the first frame of a raw file
	// MaxPixels is the largest number of pixels of a frame, before which no memory is taken for one. 0 stands for 2^26.
	MaxPixels int
}

// File is an open movie. Only one goroutine at a time may call its methods.
type File struct {
	Name          string
	Format        string
	Frames        int // number of complete frames
	Height, Width int // numbers of rows and columns of a frame
	Sparse        bool
	// Lost says what is missing at the end of a truncated file. It is nil if nothing is missing.
	Lost *FormatError

	// Marked says which numbers of the frames are no counts, by what stands in the file. It is empty if none are, or if the type of
	// the numbers says so already.
	Marked string
	// Missing says which frames of a series of files are missing or empty, and read NaN, in words. It is empty if none are.
	Missing string
	// Mark is the number that marks pixels without a count by the type of the numbers, the largest of an unsigned type of several bytes. It is 0 if
	// the type has none.
	Mark float64

	source source
	most   int // largest number of pixels of a frame
}

// source reads frames of one format.
type source interface {
	dense(first int, dst []float32) error
	events(first, n int, dst *Events) error
	close() error
}

// Events holds the nonzero pixels of some frames, in ascending order within a frame.
type Events = events.List

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError

func (f *File) bad(try, what string, args ...any) *FormatError {
	return &FormatError{Format: "frames", File: f.Name, What: fmt.Sprintf(what, args...), Try: try}
}

// Open opens a movie and finds its frames. It reads headers, and three frames to see whether they have marks. The name of a folder stands
// for the series of numbered pictures in it.
func Open(name string, s Settings) (*File, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return openSeries(name, s)
	}
	in, err := foreign.Open(name)
	if err != nil {
		return nil, err
	}
	f := newFile(name, s)
	if err := f.open(in, s); err != nil {
		in.Close()
		return nil, err
	}
	if f.Frames < 1 {
		f.Close()
		if f.Lost != nil {
			return nil, f.Lost
		}
		return nil, f.bad("compare the size of the file with that of others", "the file has no frames")
	}
	return f, nil
}

// newFile returns a file that is not open yet.
func newFile(name string, s Settings) *File {
	f := &File{Name: name, most: s.MaxPixels}
	if f.most <= 0 {
		f.most = 1 << 26
	}
	return f
}

// convert is what to do with pictures, which are no movie that can be read.
const convert = "convert the frames to one HDF5 file or NumPy array of (frames, rows, columns), or to TIFF, EDF or CBF"

// pictures are the extensions of files of detectors that hold a picture and cannot be read.
var pictures = []string{".img", ".mccd", ".png"}

func (f *File) open(in *os.File, s Settings) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return f.bad("copy it again", "the file is empty (0 bytes)")
	}
	head := make([]byte, 16)
	n, err := in.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if f.Format = s.Format; f.Format == "" {
		f.Format = guess(f.Name, head[:n], s)
	}
	format := formats[f.Format]
	if format.open == nil {
		names := Formats()
		what := fmt.Sprintf("the format %q is not known", f.Format)
		if kind := foreign.NotText(head[:n]); f.Format == "" && kind != "" && kind != "a binary file" && !strings.HasPrefix(kind, "UTF") {
			kind, try, _ := strings.Cut(kind, ": ")
			if try == "" {
				try = convert
			}
			return f.bad(try, "the file is %s", kind)
		} else if f.Format == "" {
			if slices.Contains(pictures, strings.ToLower(filepath.Ext(f.Name))) {
				return f.bad(convert, "the file is a picture")
			}
			what = fmt.Sprintf("neither the name nor the first bytes, %x, tell the format of the file, which is %s", head[:min(n, 8)], foreign.Described(head[:n]))
		}
		return f.bad(fmt.Sprintf("give one of the formats %s (raw also needs height, width and type)", strings.Join(names, ", ")), "%s", what)
	}
	if s.Height < 0 || s.Width < 0 || s.Offset < 0 || s.Height > 1<<20 || s.Width > 1<<20 {
		return f.bad("give a height and a width from 1 to 2^20, and an offset of at least 0", "frames of %d x %d pixels after %d bytes are not possible", s.Height, s.Width, s.Offset)
	}
	if err := format.open(f, in, info.Size(), s); err != nil {
		return err
	}
	f.findMarks()
	return nil
}

// size sets the number of pixels of a frame, which must be sensible.
func (f *File) size(height, width int) error {
	if height < 1 || width < 1 || height > 1<<20 || width > 1<<20 || height*width > f.most {
		return f.bad("check the format; if the frames are that large, raise the limit by --max-pixels (in Go, Settings.MaxPixels)", "the frames would have %d x %d pixels: want at least 1 x 1 and at most %d in all", height, width, f.most)
	}
	f.Height, f.Width = height, width
	return nil
}

// inside checks a range of frames.
func (f *File) inside(first, n int) error {
	if first < 0 || n < 0 || first > f.Frames-n {
		return f.bad("ask for frames that exist", "frames %d to %d were asked for, but the file has %d", first, first+n, f.Frames)
	}
	return nil
}

// Dense writes frames first, first+1, ... one after another to dst, each row-major (Height, Width),
// until dst is full. The length of dst must be a multiple of the number of pixels in a frame.
func (f *File) Dense(first int, dst []float32) error {
	size := f.Height * f.Width
	if len(dst)%size != 0 {
		return f.bad("give a slice for whole frames", "%d numbers are not a whole number of frames of %d x %d pixels", len(dst), f.Height, f.Width)
	}
	if err := f.inside(first, len(dst)/size); err != nil {
		return err
	}
	return f.source.dense(first, dst)
}

// Events replaces the contents of dst with the events of n frames. For dense formats it has to look at
// all pixels.
func (f *File) Events(first, n int, dst *Events) error {
	if err := f.inside(first, n); err != nil {
		return err
	}
	dst.Reset()
	return f.source.events(first, n, dst)
}

// Stored is dense frames in the type in which they stand in a file, for those who convert them elsewhere.
type Stored struct {
	Type  string // element type, uint8, uint16 or uint32
	Marks bool   // the largest number marks pixels without a count
	// Read writes frames first, first+1, ... one after another to dst, little-endian and each row-major, until dst is full.
	Read func(first int, dst []byte) error
}

// storing is a source that may have its frames in a type that others take.
type storing interface {
	// stored returns the frames as they stand in the file, or nil if they have other types.
	stored() *Stored
}

var (
	_ storing = (*stack)(nil)
	_ storing = (*raw)(nil)
)

// Stored returns the frames in the type in which they stand in the file, or nil if they are not unsigned integers of at most four bytes, one after
// another in an HDF5 file, an array of NumPy, or a raw file. The numbers are those of Dense.
func (f *File) Stored() *Stored {
	s, ok := f.source.(storing)
	if !ok {
		return nil
	}
	st := s.stored()
	if st == nil {
		return nil
	}
	read, size := st.Read, f.Height*f.Width*map[string]int{"uint8": 1, "uint16": 2, "uint32": 4}[st.Type]
	st.Read = func(first int, dst []byte) error {
		if len(dst)%size != 0 {
			return f.bad("give a slice for whole frames", "%d bytes are not a whole number of frames of %d x %d pixels of the type %s", len(dst), f.Height, f.Width, st.Type)
		}
		if err := f.inside(first, len(dst)/size); err != nil {
			return err
		}
		return read(first, dst)
	}
	return st
}

// Close closes the file.
func (f *File) Close() error { return f.source.close() }

// fromDense reads dense frames one at a time and keeps what is not 0.
func fromDense(s source, pixels, first, n int, dst *Events) error {
	frame := make([]float32, pixels)
	for i := range n {
		if err := s.dense(first+i, frame); err != nil {
			return err
		}
		dst.Gather(frame, pixels)
	}
	return nil
}

// toDense reads events and spreads them over frames.
func toDense(s source, pixels, first int, dst []float32) error {
	clear(dst)
	var e Events
	e.Reset()
	if err := s.events(first, len(dst)/pixels, &e); err != nil {
		return err
	}
	e.Scatter(dst, pixels)
	return nil
}
