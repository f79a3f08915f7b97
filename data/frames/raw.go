// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/euryale-dev/euryale/tensor"
)

// raw is frames of plain numbers, one after another.
type raw struct {
	in     *os.File
	typ    numberType
	order  binary.ByteOrder
	offset int64
	pixels int
	buf    []byte
	marked func(v float32) bool // tells the marks that the frames have; nil for none
}

// rawName is the format of frames of plain numbers.
const rawName = "raw"

func init() {
	register(rawName, format{extensions: []string{".raw"}, open: openRaw})
	register("npy", format{magic: "\x93NUMPY", open: openNPY})
}

func openRaw(f *File, in *os.File, size int64, s Settings) error {
	if s.Height < 1 || s.Width < 1 {
		return f.bad("give the height and width of a frame, and the type of its numbers", "a raw file does not say how many pixels a frame has")
	}
	if s.Type == "" {
		s.Type = "<u2"
	}
	if err := f.size(s.Height, s.Width); err != nil {
		return err
	}
	return f.plain(in, size, s.Type, s.Offset, -1)
}

func openNPY(f *File, in *os.File, size int64, s Settings) error {
	descr, fortran, shape, err := tensor.NPYHead(in)
	if err != nil {
		return &FormatError{Format: "frames", File: f.Name, What: "the file is not a NumPy array", Err: err, Try: "save it with numpy.save, or give its format"}
	}
	axis, ok := frameAxis(shape)
	if !ok || fortran {
		order := "which are no frames of rows and columns"
		if fortran {
			order = "in Fortran order"
		}
		return f.bad("save numpy.ascontiguousarray(frames) with the shape (frames, rows, columns)", "the array has the shape %v, %s", shape, order)
	}
	if err := f.size(shape[len(shape)-2], shape[len(shape)-1]); err != nil {
		return err
	}
	at, err := in.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	return f.plain(in, size, descr, at, shape[axis])
}

// plain finds the frames of a file of plain numbers; want is how many there should be, -1 if that is not
// known.
func (f *File) plain(in *os.File, size int64, descr string, offset int64, want int) error {
	typ, order, err := f.numberNamed(descr)
	if err != nil {
		return err
	}
	each := int64(f.Height) * int64(f.Width) * int64(typ.size)
	have := max(size-offset, 0)
	f.Frames = int(have / each)
	if want >= 0 && f.Frames > want {
		f.Frames = want
	} else if rest := have % each; want > f.Frames || want < 0 && rest > 0 {
		f.Lost = f.cut(f.Frames, rest, each, want)
	}
	f.Mark = float64(typ.whole)
	f.source = &raw{in: in, typ: typ, order: order, offset: offset, pixels: f.Height * f.Width}
	return nil
}

// cut says that of the frame after n whole ones some bytes are missing.
func (f *File) cut(n int, have, each int64, want int) *FormatError {
	of := ""
	if want >= 0 {
		of = fmt.Sprintf(" of %d", want)
	}
	return f.bad("copy it again if the original is complete", "the file is truncated after %d%s whole frames: only %d of the %d bytes of the next one are there", n, of, have, each)
}

func (r *raw) dense(first int, dst []float32) error {
	bytes := r.typ.size
	for at := 0; at < len(dst); {
		n := min(len(dst)-at, 1<<20)
		if cap(r.buf) < n*bytes {
			r.buf = make([]byte, n*bytes)
		}
		b := r.buf[:n*bytes]
		if err := r.read(first, at, b); err != nil {
			return err
		}
		r.typ.read(dst[at:at+n], b, r.order)
		withoutMarks(dst[at:at+n], r.marked)
		at += n
	}
	return nil
}

// read fills b from number at of frame first on.
func (r *raw) read(first, at int, b []byte) error {
	if _, err := r.in.ReadAt(b, r.offset+(int64(first)*int64(r.pixels)+int64(at))*int64(r.typ.size)); err != nil {
		return &FormatError{Format: "frames", File: r.in.Name(), What: fmt.Sprintf("frame %d cannot be read", first+at/r.pixels), Err: err}
	}
	return nil
}

func (r *raw) stored() *Stored {
	unsigned := r.typ.class == oneByte || r.typ.whole != 0
	if !unsigned || r.typ.size > 4 || r.typ.size > 1 && r.order != binary.LittleEndian {
		return nil
	}
	name := fmt.Sprintf("uint%d", 8*r.typ.size)
	return &Stored{name, r.typ.whole != 0 || r.marked != nil, func(first int, dst []byte) error { return r.read(first, 0, dst) }}
}

func (r *raw) events(first, n int, dst *Events) error { return fromDense(r, r.pixels, first, n, dst) }

func (r *raw) close() error { return r.in.Close() }
