// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// Write makes a result file that Open, h5py and the viewers of these files read. Parts of r that are
// nil, and quantities that are zero or NaN, are left out (except that a beam centre may be zero).
// g2, errors, images and maps become float32, as correlators write them. If r was opened from a
// file, its images and maps are written too.
func Write(name string, r *Result) error {
	if err := r.complete(); err != nil {
		return err
	}
	w, err := Create(name)
	if err != nil {
		return err
	}
	defer w.Discard()
	return w.Close(r)
}

// Writer makes a result file whose large parts are written while they are computed.
type Writer struct {
	s      saver
	maps   int
	ages   bool // whether AddAges has written something
	pixels *hdf5.Rows
}

// Create starts a result file that will have the given name once Close succeeds.
func Create(name string) (*Writer, error) {
	w, err := hdf5.Create(name)
	if err != nil {
		return nil, err
	}
	return &Writer{s: saver{Writer: w}}, nil
}

// AddMap writes the next two-time map: the upper triangle of frames x frames numbers, row-major.
// Twotime.Bins of the result passed to Close must name the bins in this order.
func (w *Writer) AddMap(half []float32, frames int) error {
	w.maps++
	return w.s.Write(fmt.Sprintf("%s/c2_%05d", keyMaps[0], w.maps), half, packed(frames, frames))
}

// AddPixels writes the correlation of every pixel at the next of several delays, and the means of its
// later and earlier frames, each as a row-major image of height x width numbers.
func (w *Writer) AddPixels(delays, height, width int, products, later, earlier []float64) error {
	if w.pixels == nil {
		var err error
		w.pixels, err = w.s.Rows(keyUnnormalized[0], []float32(nil), hdf5.Layout{Shape: []int{delays, 3, height, width}, Gzip: 1, Shuffle: true})
		if err != nil {
			return err
		}
	}
	var row []float32
	for _, image := range [][]float64{products, later, earlier} {
		for _, v := range image {
			row = append(row, float32(v))
		}
	}
	return w.pixels.Append(row)
}

// Discard removes what was written. After Close it does nothing.
func (w *Writer) Discard() { w.s.Discard() }

// Close writes the rest of a result and renames the file to its final name. Maps that were added are
// not written again.
func (w *Writer) Close(r *Result) error {
	if err := r.complete(); err != nil {
		return err
	}
	s := w.s
	s.instrument(r)
	s.qmap(r.QMap)
	s.intensities(r)
	s.photons(r.Photons)
	s.strays(r.Strays)
	if r.Multitau != nil {
		s.multitau(r)
	}
	if r.Twotime != nil {
		if err := s.twotime(r, w.maps); err != nil {
			return err
		}
	}
	return s.Writer.Close()
}

// complete loads what is still in the file behind r and checks that the parts agree.
func (r *Result) complete() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("nexus: cannot write the result: "+format, args...)
	}
	switch {
	case r.Multitau == nil && r.Twotime == nil:
		return refuse("it has neither Multitau nor Twotime: set one of them")
	case r.QMap == nil || len(r.QMap.Dynamic.Axis0) == 0:
		return refuse("the q map has no q: give one for every dynamic bin")
	case !(r.FrameTime > 0):
		return refuse("the time between frames is %v s: want a number above 0", r.FrameTime)
	}
	if m := r.Multitau; m != nil {
		switch {
		case m.G2 == nil || m.G2.Rows != len(m.Delay):
			return refuse("g2 has the shape %s, but there are %d delays", m.G2.shape(), len(m.Delay))
		case m.Err != nil && (m.Err.Rows != m.G2.Rows || m.Err.Cols != m.G2.Cols):
			return refuse("the errors of g2 have the shape %s, but g2 has %s", m.Err.shape(), m.G2.shape())
		case len(r.QMap.Dynamic.Cells) != 0 && len(r.QMap.Dynamic.Cells) != m.G2.Cols:
			return refuse("g2 has %d bins, but the q map has %d", m.G2.Cols, len(r.QMap.Dynamic.Cells))
		}
		for _, p := range append(slices.Clone(m.Partial), m.PartialErr...) {
			if p.Rows != m.G2.Rows || p.Cols != m.G2.Cols {
				return refuse("a partial g2 has the shape %s, but G2 has %s", p.shape(), m.G2.shape())
			}
		}
	}
	if r.file == nil {
		return nil
	}
	l := loader{file: r.file}
	if l.has(keySAXS2D) {
		if _, err := r.ReadImage(); err != nil {
			return err
		}
	}
	if l.has(keyDynamic) {
		if _, err := r.ReadMaps(); err != nil {
			return err
		}
	}
	return nil
}

// saver writes keys; its Writer keeps the first error.
type saver struct {
	*hdf5.Writer
	alone bool // whether the file is a q map alone, whose group is /qmap
}

// in returns the path of a key of the q map.
func (s saver) in(k key) key {
	if s.alone {
		return k[1:]
	}
	return k
}

func (s saver) number(k key, v float64) {
	if !math.IsNaN(v) && v != 0 {
		s.Write(k[0], v, hdf5.Layout{})
	}
}

func (s saver) text(k key, v string) {
	if v != "" {
		s.Write(k[0], v, hdf5.Layout{})
	}
}

func (s saver) floats(k key, v []float64) {
	if v != nil {
		s.Write(k[0], v, hdf5.Layout{})
	}
}

// narrow converts to float32.
func narrow(parts ...*Matrix) []float32 {
	var out []float32
	for _, m := range parts {
		for _, v := range m.Data {
			out = append(out, float32(v))
		}
	}
	return out
}

// matrix writes an array with axes (rows, columns), after leading axes of length 1.
func (s saver) matrix(k key, m *Matrix, leading ...int) {
	if m != nil {
		s.Write(k[0], narrow(m), packed(append(leading, m.Rows, m.Cols)...))
	}
}

// cube writes matrices of equal shape as an array of three axes.
func (s saver) cube(k key, all []*Matrix) {
	if len(all) > 0 {
		s.Write(k[0], narrow(all...), packed(len(all), all[0].Rows, all[0].Cols))
	}
}

// packed returns a layout that compresses data that are large enough to gain.
func packed(shape ...int) hdf5.Layout {
	l := hdf5.Layout{Shape: shape}
	n := 1
	for _, d := range shape {
		n *= d
	}
	if n > 1024 {
		l.Gzip, l.Shuffle = 4, true
	}
	return l
}

func (s saver) instrument(r *Result) {
	for _, name := range slices.Sorted(maps.Keys(r.Attrs)) {
		s.Attr("/", name, r.Attrs[name])
	}
	s.Group(keyBluesky[0])
	for _, name := range slices.Sorted(maps.Keys(r.Metadata)) {
		s.Write(keyBluesky[0]+"/"+name, r.Metadata[name], hdf5.Layout{})
	}
	s.text(keyStart, r.Start)
	s.number(keyFrame, r.FrameTime)
	s.number(keyCount, r.CountTime)
	s.number(keyPixelX, r.PixelX)
	s.number(keyPixelY, r.PixelY)
	s.number(keyEnergy, r.Energy)
	if r.Energy > 0 {
		s.Attr(keyEnergy[0], "units", "keV")
	}
}

func (s saver) qmap(q *QMap) {
	group := path.Dir(s.in(keyMask)[0])
	s.Group(group)
	if q.Hash != "" {
		s.Attr(group, "hash", q.Hash)
	}
	s.Attr(group, "version", "1.0")
	names, units := q.Names, q.Units
	if names == nil {
		names, units = []string{"q", "phi"}, []string{"Å⁻¹", "deg"}
	}
	s.Write(s.in(keyNames)[0], names, hdf5.Layout{})
	s.Write(s.in(keyUnits)[0], units, hdf5.Layout{})
	s.Write(s.in(keyBeamX)[0], q.BeamX, hdf5.Layout{})
	s.Write(s.in(keyBeamY)[0], q.BeamY, hdf5.Layout{})
	s.number(s.in(keyDistance), q.Distance)
	s.number(s.in(keyPixel), q.PixelSize)
	s.number(s.in(keyQEnergy), q.Energy)
	s.text(s.in(keySource), q.Source)
	s.partition(&q.Dynamic, names, units, keyDQ, keyDPhi, keyDIndex, keyDCount)
	if len(q.BinQ) > 0 {
		s.floats(s.in(keyBinQ), q.BinQ)
		s.floats(s.in(keyBinQ2), q.BinQ2)
	}
	if q.Static.Axis0 != nil {
		s.partition(&q.Static, names, units, keySQ, keySPhi, keySIndex, keySCount)
	}
	if m := q.Maps; m != nil {
		l := packed(m.Height, m.Width)
		s.Write(s.in(keyMask)[0], m.Mask, l)
		blemish := m.Blemish
		if blemish == nil {
			blemish = slices.Repeat([]bool{true}, m.Height*m.Width)
		}
		s.Write(s.in(keyBlemish)[0], blemish, l)
		s.Write(s.in(keyDynamic)[0], smallest(m.Dynamic), l)
		s.Write(s.in(keyStatic)[0], smallest(m.Static), l)
	}
}

// smallest returns numbers of at least 0 in the smallest unsigned type that holds them, as other programs of these files
// do.
func smallest[T int | int32](v []T) any {
	most := T(0)
	for _, x := range v {
		if x < 0 {
			return v
		}
		most = max(most, x)
	}
	switch {
	case most <= math.MaxUint8:
		return converted[uint8](v)
	case most <= math.MaxUint16:
		return converted[uint16](v)
	}
	return converted[uint32](v)
}

func converted[U uint8 | uint16 | uint32, T int | int32](v []T) []U {
	out := make([]U, len(v))
	for i, x := range v {
		out[i] = U(x)
	}
	return out
}

func (s saver) partition(p *Partition, names, units []string, axis0, axis1, index, count key) {
	second := p.Axis1
	if second == nil {
		second = []float64{0}
	}
	cells := p.Cells
	if cells == nil {
		for i := range len(p.Axis0) * len(second) {
			cells = append(cells, i)
		}
	}
	for i, axis := range [][]float64{p.Axis0, second} {
		k := s.in([]key{axis0, axis1}[i])
		s.floats(k, axis)
		s.Attr(k[0], "size", len(axis))
		if i < len(names) && i < len(units) {
			s.Attr(k[0], "name", names[i])
			s.Attr(k[0], "unit", units[i])
		}
	}
	s.Write(s.in(index)[0], smallest(cells), hdf5.Layout{})
	s.Write(s.in(count)[0], []int{len(p.Axis0), len(second)}, hdf5.Layout{})
}

func (s saver) intensities(r *Result) {
	if t := r.Trace; t != nil {
		s.matrix(keyTrace, &Matrix{2, len(t.Mean), append(slices.Clone(t.Frame), t.Mean...)})
	}
	if r.SAXS != nil {
		s.matrix(keySAXS1D, &Matrix{1, len(r.SAXS), r.SAXS})
	}
	s.matrix(keySegments, r.Segments)
	s.matrix(keySAXS2D, r.Image, 1)
}

func (s saver) multitau(r *Result) {
	m := r.Multitau
	s.delays(keyTau, m.Delay)
	s.matrix(keyG2, m.G2)
	s.matrix(keyErr, m.Err)
	s.matrix(keyCoincidences, m.Coincidences)
	s.cube(keyPartial, m.Partial)
	s.cube(keyPartialErr, m.PartialErr)
	s.floats(keyPartialLabels, m.PartialFrames)
	if m.Cov != nil {
		s.Write(keyCov[0], slices.Concat(m.Cov...), packed(len(m.Cov), len(m.Delay), len(m.Delay)))
	}
	if m.Skew != nil {
		s.Write(keySkew[0], slices.Concat(m.Skew...), packed(len(m.Skew), len(m.Delay)))
	}
	if m.Pixels != nil {
		s.Write(keyPixels[0], m.Pixels, hdf5.Layout{})
	}
	s.Write(keyStride[0], max(m.Stride, 1), hdf5.Layout{})
	s.Write(keyAverage[0], max(m.Average, 1), hdf5.Layout{})
}

// delays writes whole numbers of frames as integers, as correlators do.
func (s saver) delays(k key, v []float64) {
	whole := make([]int64, len(v))
	for i, d := range v {
		if d != math.Trunc(d) || math.Abs(d) > 1<<53 {
			s.floats(k, v)
			return
		}
		whole[i] = int64(d)
	}
	s.Write(k[0], whole, hdf5.Layout{})
}

// twotime writes the two-time correlation, but for the first maps, which are written already.
func (s saver) twotime(r *Result, written int) error {
	m := r.Twotime
	s.Group(keyMaps[0])
	first := true
	for i := written; i < len(m.Bins); i++ {
		half, err := r.readMap(i)
		if err != nil {
			return err
		}
		s.matrix(key{fmt.Sprintf("%s/c2_%05d", keyMaps[0], i+1)}, half)
		ages, err := r.ReadAges(i)
		if err != nil {
			return err
		}
		if ages != nil {
			s.ages(ages, i+1, first)
			first = false
		}
	}
	bins := make([]int32, len(m.Bins))
	for i, b := range m.Bins {
		bins[i] = int32(b)
	}
	s.Write(keyTwoBins[0], bins, hdf5.Layout{})
	s.floats(keyTwoDelay, m.Delay)
	s.matrix(keyTwoG2, m.G2)
	s.cube(keyTwoParts, transpose(m.Partial))
	s.Write(keyTwoStride[0], max(m.Stride, 1), hdf5.Layout{})
	s.Write(keyTwoAverage[0], max(m.Average, 1), hdf5.Layout{})
	s.text(keyTwoSmooth, m.Smooth)
	return nil
}
