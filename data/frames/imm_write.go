// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"bufio"
	"encoding/binary"
	"fmt"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// IMMWriter writes a sparse IMM file, frame by frame.
type IMMWriter struct {
	out           *atomicfile.File
	w             *bufio.Writer
	height, width int
	frames        int
	buf           []byte
}

// CreateIMM starts a sparse IMM file that will have the given name once Close succeeds.
func CreateIMM(name string, height, width int) (*IMMWriter, error) {
	if height < 1 || width < 1 || height*width > 1<<31-1 {
		return nil, fmt.Errorf("frames: cannot write frames of %d x %d pixels: want at least one pixel and at most 2^31", height, width)
	}
	out, err := atomicfile.Create(name)
	if err != nil {
		return nil, err
	}
	return &IMMWriter{out: out, w: bufio.NewWriterSize(out, 1<<20), height: height, width: width}, nil
}

// Append writes the events of one or more frames. Counts are whole numbers up to 32767.
func (w *IMMWriter) Append(e *Events) error {
	for f := range max(len(e.Start)-1, 0) {
		pixel, count := e.Pixel[e.Start[f]:e.Start[f+1]], e.Count[e.Start[f]:e.Start[f+1]]
		b := append(w.buf[:0], make([]byte, immHead)...)
		put := func(at, v int) { binary.LittleEndian.PutUint32(b[at:], uint32(v)) }
		put(0, 2) // mode: buffered
		put(immCompression, immSparse)
		put(immRows, w.height)
		put(immCols, w.width)
		put(immBytes, 2)
		put(immEntries, len(pixel))
		put(160, w.frames) // buffer number
		put(88, w.height-1)
		put(96, w.width-1)
		for _, p := range pixel {
			b = binary.LittleEndian.AppendUint32(b, p)
		}
		for i, c := range count {
			if c != float32(int16(c)) || int(pixel[i]) >= w.height*w.width {
				return fmt.Errorf("frames: frame %d has the count %g at pixel %d of %d: an IMM file holds only whole numbers up to 32767", w.frames, c, pixel[i], w.height*w.width)
			}
			b = binary.LittleEndian.AppendUint16(b, uint16(int16(c)))
		}
		w.buf = b
		if _, err := w.w.Write(b); err != nil {
			return err
		}
		w.frames++
	}
	return nil
}

// Discard removes what was written. After Close it does nothing.
func (w *IMMWriter) Discard() { w.out.Discard() }

// Close renames the file to its final name.
func (w *IMMWriter) Close() error {
	if err := w.w.Flush(); err != nil {
		w.out.Discard()
		return err
	}
	return w.out.Commit()
}
