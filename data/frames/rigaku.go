// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// An event of Rigaku's detectors is a little-endian number of 64 bits: the count in bits 0 to 11, the pixel in bits 16 to
// 36, the frame from bit 40. Events are in the order of frames.
const (
	rigakuCount  = 1<<12 - 1
	rigakuPixel  = 1<<21 - 1
	rigakuModule = 1 << 20 // added to the pixels of modules of a large detector
)

// A detector of 3 Mpx has six modules of 512 x 1024 pixels, in three rows of two with gaps, and writes a file for each;
// rigakuOrder says which file has the module of each place.
const (
	rigakuHeight, rigakuWidth     = 512, 1024
	rigakuRowGap, rigakuColumnGap = 70, 52
)

var (
	rigakuOrder   = [6]int{5, 0, 4, 1, 3, 2}
	rigakuModules = []string{".000", ".001", ".002", ".003", ".004", ".005"} // extensions of the files of the modules
)

// module is the file of one module, and where its pixels are.
type module struct {
	in            *os.File
	events        int64
	height, width int
	row, col      int

	frame int   // a frame, and where its events begin
	at    int64 // the number of its first event
	buf   []byte
}

type rigaku struct {
	name    string
	width   int
	pixels  int
	modules []*module
}

func init() {
	register("rigaku", format{extensions: append([]string{".bin"}, rigakuModules...), shared: true, open: openRigaku})
}

func openRigaku(f *File, in *os.File, size int64, s Settings) error {
	r := &rigaku{name: f.Name}
	height, width := s.Height, s.Width
	if height == 0 || width == 0 {
		height, width = rigakuHeight, rigakuWidth
	}
	if ext := filepath.Ext(f.Name); slices.Contains(rigakuModules, ext) {
		in.Close()
		stem := strings.TrimSuffix(f.Name, ext)
		for place, k := range rigakuOrder {
			name := fmt.Sprintf("%s.%03d", stem, k)
			one, err := foreign.Open(name)
			if err != nil {
				r.close()
				return &FormatError{Format: "frames", File: name, What: "one of the six modules of the detector is missing", Try: "copy all six files to one folder", Err: err}
			}
			r.modules = append(r.modules, &module{in: one, height: height, width: width, row: place / 2 * (height + rigakuRowGap), col: place % 2 * (width + rigakuColumnGap)})
		}
		height, width = 3*height+2*rigakuRowGap, 2*width+rigakuColumnGap
	} else {
		r.modules = []*module{{in: in, height: height, width: width}}
	}
	if err := f.size(height, width); err != nil {
		return err
	}
	f.Sparse, f.source, r.width, r.pixels = true, r, width, height*width
	for _, m := range r.modules {
		info, err := m.in.Stat()
		if err != nil {
			return err
		}
		if rest := info.Size() % 8; rest > 0 {
			f.Lost = f.bad("copy it again if the original is complete", "%s ends in the middle of an event, with %d bytes left", filepath.Base(m.in.Name()), rest)
		}
		if m.events = info.Size() / 8; m.events == 0 {
			continue
		}
		last, err := m.event(m.events - 1)
		if err != nil {
			return err
		}
		f.Frames = max(f.Frames, int(last>>40)+1)
		if err := m.sorted(); err != nil {
			return err
		}
	}
	return nil
}

func (m *module) event(i int64) (uint64, error) {
	var b [8]byte
	_, err := m.in.ReadAt(b[:], 8*i)
	return binary.LittleEndian.Uint64(b[:]), err
}

// sorted looks at some events, whether they are in the order of frames; reading looks at all.
func (m *module) sorted() error {
	const looks = 64
	before := uint64(0)
	for i := range min(looks, m.events) {
		at := m.events * i / min(looks, m.events)
		e, err := m.event(at)
		if err != nil {
			return err
		}
		if e>>40 < before>>40 {
			return &FormatError{Format: "frames", File: m.in.Name(), What: fmt.Sprintf("event %d belongs to frame %d, but one before it to frame %d: copy the file again", at, e>>40, before>>40), Try: "give the format if the file is not an event list"}
		}
		before = e
	}
	return nil
}

// find returns the number of the first event of a frame or a later one.
func (m *module) find(frame int) (int64, error) {
	if frame == m.frame {
		return m.at, nil
	}
	low := int64(0)
	if frame > m.frame {
		low = m.at
	}
	var fail error
	n := sort.Search(int(m.events-low), func(i int) bool {
		e, err := m.event(low + int64(i))
		if err != nil {
			fail = err
		}
		return int(e>>40) >= frame
	})
	return low + int64(n), fail
}

// read appends the events of frames first to first+n to lists, one for each frame.
func (m *module) read(r *rigaku, first, n int, dst []Events) error {
	at, err := m.find(first)
	if err != nil {
		return err
	}
	for frame := first; at < m.events; {
		want := min(m.events-at, 1<<15)
		m.buf = slices.Grow(m.buf[:0], int(8*want))[:8*want]
		if _, err := m.in.ReadAt(m.buf, 8*at); err != nil {
			return err
		}
		for i := range int(want) {
			e := binary.LittleEndian.Uint64(m.buf[8*i:])
			f := int(e >> 40)
			if f < frame {
				return fmt.Errorf("event %d belongs to frame %d, but one before it to frame %d: copy the file again", at+int64(i), f, frame)
			}
			if frame = f; f >= first+n {
				m.frame, m.at = first+n, at+int64(i)
				return nil
			}
			p := int(e>>16) & rigakuPixel
			if p >= rigakuModule {
				p -= rigakuModule
			}
			if p >= m.height*m.width {
				return fmt.Errorf("frame %d has an event at pixel %d, but a frame has %d x %d pixels: give the height and width of the detector", f, p, m.height, m.width)
			}
			if c := e & rigakuCount; c != 0 {
				to := &dst[f-first]
				to.Pixel = append(to.Pixel, uint32((m.row+p/m.width)*r.width+m.col+p%m.width))
				to.Count = append(to.Count, float32(c))
			}
		}
		at += want
	}
	m.frame, m.at = first+n, m.events
	return nil
}

func (r *rigaku) events(first, n int, dst *Events) error {
	lists := make([]Events, n)
	for _, m := range r.modules {
		if err := m.read(r, first, n, lists); err != nil {
			return &FormatError{Format: "frames", File: m.in.Name(), What: fmt.Sprintf("frames %d to %d cannot be read", first, first+n), Err: err, Try: "give the height and width if the detector does not have 512 x 1024 pixels; otherwise the file is damaged"}
		}
	}
	for i := range lists {
		dst.Pixel, dst.Count = append(dst.Pixel, lists[i].Pixel...), append(dst.Count, lists[i].Count...)
		dst.Tidy()
		dst.End()
	}
	return nil
}

func (r *rigaku) dense(first int, dst []float32) error { return toDense(r, r.pixels, first, dst) }

func (r *rigaku) close() error {
	var fail error
	for _, m := range r.modules {
		if err := m.in.Close(); err != nil {
			fail = err
		}
	}
	return fail
}
