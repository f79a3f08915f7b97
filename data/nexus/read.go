// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"math"
	"path"
	"slices"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// read loads everything except images and maps.
func read(f *hdf5.File, name string) (*Result, error) {
	l := &loader{file: f}
	r := &Result{File: name, file: f, Flavour: flavour(l)}
	for _, k := range []key{keyG2, keyErr, keyTau, keyMaps} {
		if l.links(k); l.err != nil {
			return nil, l.err
		}
	}
	multi, two := l.has(keyG2), l.has(keyMaps)
	if !multi && !two {
		return nil, &KeyError{File: name, Key: keyG2[0] + " or " + keyMaps[0],
			What: "neither of the two exists", Err: ErrNoAnalysis}
	}
	r.Start = l.text(keyStart)
	r.FrameTime, r.CountTime = l.number(keyFrame, true), l.number(keyCount, false)
	r.Energy, r.PixelX, r.PixelY = l.number(keyEnergy, false), l.number(keyPixelX, false), l.number(keyPixelY, false)
	if multi {
		r.Multitau = l.multitau()
	}
	if two {
		r.Twotime = l.twotime()
	}
	r.QMap = l.qmap(r)
	r.Trace = l.trace()
	r.SAXS = l.floats(keySAXS1D, false)
	r.Segments = l.matrix(keySegments, false)
	r.Photons = l.photons()
	r.Strays = l.strays()
	r.Attrs, r.Metadata = l.attrs(), l.metadata()
	if l.err == nil {
		r.check(l)
	}
	return r, l.err
}

func flavour(l *loader) Flavour {
	switch {
	case l.has(keyVersion):
		return Legacy
	case l.has(keyBluesky):
		return Nexus
	}
	return Unknown
}

// check returns an error if shapes that belong together differ.
func (r *Result) check(l *loader) {
	if m := r.Multitau; m != nil {
		if m.G2.Rows != len(m.Delay) {
			l.fail("g2 has the shape %s, but there are %d delays", m.G2.shape(), len(m.Delay))
		}
		if m.Err != nil && (m.Err.Rows != m.G2.Rows || m.Err.Cols != m.G2.Cols) {
			l.fail("g2 has the shape %s, but its errors have the shape %s", m.G2.shape(), m.Err.shape())
		}
		if n := r.QMap.Dynamic.Bins(); n != m.G2.Cols {
			l.fail("g2 has %d bins, but the q map has %d", m.G2.Cols, n)
		}
	}
	if m := r.Multitau; m != nil {
		for _, p := range slices.Concat(m.Partial, m.PartialErr) {
			if p.Rows != m.G2.Rows || p.Cols != m.G2.Cols {
				l.fail("g2 has the shape %s, but that of a part of the frames has the shape %s", m.G2.shape(), p.shape())
			}
		}
		if n := len(m.Partial); m.PartialErr != nil && len(m.PartialErr) != n || m.PartialFrames != nil && len(m.PartialFrames) != n {
			l.fail("the file has g2 of %d parts of the frames, but %d errors and %d numbers of frames", n, len(m.PartialErr), len(m.PartialFrames))
		}
	}
	if m := r.Twotime; m != nil {
		g2 := m.Partial
		if m.G2 != nil {
			g2 = append(slices.Clone(g2), m.G2)
		}
		for _, g := range g2 {
			if g.Cols != len(m.Bins) {
				l.fail("the two-time correlation has %d bins, but its g2 has the shape %s", len(m.Bins), g.shape())
			}
		}
	}
	if s := r.Segments; s != nil && r.SAXS != nil && s.Cols != len(r.SAXS) {
		l.fail("SAXS has %d bins, but its segments have %d", len(r.SAXS), s.Cols)
	}
	if n := r.QMap.Static.Bins(); r.SAXS != nil && r.QMap.Static.Axis0 != nil && n != len(r.SAXS) {
		l.fail("SAXS has %d bins, but the q map has %d static ones", len(r.SAXS), n)
	}
}

func (l *loader) multitau() *Multitau {
	m := &Multitau{Delay: l.floats(keyTau, true), G2: l.curves(keyG2, true), Err: l.curves(keyErr, false),
		Stride: l.integer(keyStride, 1), Average: l.integer(keyAverage, 1)}
	m.Partial, m.PartialErr = l.cube(keyPartial), l.cube(keyPartialErr)
	m.PartialFrames = l.floats(keyPartialLabels, false)
	if m.G2 == nil {
		m.G2 = NewMatrix(0, 0)
	}
	m.Pixels, m.Coincidences = l.ints(keyPixels), l.matrix(keyCoincidences, false)
	if c := m.Coincidences; c != nil && (c.Rows != m.G2.Rows || c.Cols != m.G2.Cols) {
		l.fail("%s has the shape %s, but g2 the shape %s: want the same", keyCoincidences[0], c.shape(), m.G2.shape())
	}
	for _, c := range l.cube(keyCov) {
		m.Cov = append(m.Cov, c.Data)
	}
	if skew := l.matrix(keySkew, false); skew != nil {
		for i := range skew.Rows {
			m.Skew = append(m.Skew, skew.Row(i))
		}
	}
	for _, c := range m.Cov {
		if len(c) != len(m.Delay)*len(m.Delay) || len(m.Cov) != m.G2.Cols {
			l.fail("%s has %d covariances of %d numbers, but there are %d bins and %d delays", keyCov[0], len(m.Cov), len(c), m.G2.Cols, len(m.Delay))
			break
		}
	}
	if m.Skew != nil && (len(m.Skew) != m.G2.Cols || len(m.Skew[0]) != len(m.Delay)) || m.Pixels != nil && len(m.Pixels) != m.G2.Cols {
		l.fail("%s and %s do not fit the %d bins and %d delays", keySkew[0], keyPixels[0], m.G2.Cols, len(m.Delay))
	}
	return m
}

func (l *loader) twotime() *Twotime {
	m := &Twotime{Bins: l.ints(keyTwoBins), Delay: l.floats(keyTwoDelay, false), G2: l.curves(keyTwoG2, false),
		Stride: l.integer(keyTwoStride, 1), Average: l.integer(keyTwoAverage, 1), Smooth: l.text(keyTwoSmooth)}
	var err error
	m.names, err = mapNames(l.file)
	l.keep(keyMaps[0], err)
	if m.Bins == nil {
		for i := range m.names {
			m.Bins = append(m.Bins, i+1)
		}
	}
	if len(m.Bins) != len(m.names) {
		l.fail("%s lists %d bins, but %s holds %d maps", keyTwoBins[0], len(m.Bins), keyMaps[0], len(m.names))
	}
	m.Maps = make([]*Matrix, len(m.Bins))
	m.Partial = append(m.Partial, transpose(l.cube(keyTwoParts))...)
	return m
}

// transpose converts a list along the first of three axes to a list along the second.
func transpose(cube []*Matrix) []*Matrix {
	if len(cube) == 0 {
		return nil
	}
	all := make([]*Matrix, cube[0].Rows)
	for j := range all {
		all[j] = NewMatrix(len(cube), cube[0].Cols)
		for i, m := range cube {
			copy(all[j].Row(i), m.Row(j))
		}
	}
	return all
}

func (l *loader) trace() *Trace {
	m := l.matrix(keyTrace, false)
	if m == nil {
		return nil
	}
	if m.Rows != 2 {
		l.fail("%s has the shape %s: want (2, frames)", keyTrace[0], m.shape())
		return nil
	}
	return &Trace{m.Row(0), m.Row(1)}
}

func (l *loader) qmap(r *Result) *QMap {
	q := &QMap{Source: l.text(keySource), Names: l.texts(keyNames), Units: l.texts(keyUnits), BeamX: l.number(keyBeamX, false), BeamY: l.number(keyBeamY, false),
		Distance: l.number(keyDistance, false), PixelSize: l.number(keyPixel, false), Energy: l.number(keyQEnergy, false)}
	for _, group := range []string{"/xpcs/qmap", "/qmap"} {
		if a, err := l.file.Attr(group, "hash"); err == nil {
			q.Hash, _ = a.Text()
			break
		}
	}
	q.Dynamic = Partition{l.floats(keyDQ, true), l.floats(keyDPhi, false), l.ints(keyDIndex)}
	q.Static = Partition{l.floats(keySQ, false), l.floats(keySPhi, false), l.ints(keySIndex)}
	if l.err == nil {
		l.convertQ(q)
	}
	if q.Names == nil {
		q.Names, q.Units = []string{"q", "phi"}, []string{"Å⁻¹", "deg"}
	}
	if l.err != nil {
		return q
	}
	q.Dynamic.settle(r.Bins())
	q.Static.settle(len(r.SAXS))
	if q.BinQ, q.BinQ2 = l.floats(keyBinQ, false), l.floats(keyBinQ2, false); len(q.BinQ) != q.Dynamic.Bins() || len(q.BinQ2) != len(q.BinQ) {
		q.BinQ, q.BinQ2 = nil, nil
	}
	return q
}

// settle numbers the cells of files without an index mapping. The oldest files list a q for every
// bin instead of for every position on the axis.
func (p *Partition) settle(bins int) {
	if p.Cells != nil {
		return
	}
	if len(p.Axis0) == bins && len(p.Axis1) != 1 {
		p.Axis1 = nil
	}
	for i := range len(p.Axis0) * max(len(p.Axis1), 1) {
		p.Cells = append(p.Cells, i)
	}
}

// attrs returns the text attributes of the root.
func (l *loader) attrs() map[string]string {
	all, err := l.file.Attrs("/")
	if l.keep("/", err) {
		return nil
	}
	m := map[string]string{}
	for _, a := range all {
		if s, err := a.Text(); err == nil {
			m[a.Name] = s
		}
	}
	return m
}

// metadata returns the texts of the control system.
func (l *loader) metadata() map[string]string {
	m := map[string]string{}
	names, err := l.file.Keys(keyBluesky[0])
	if err != nil {
		return m
	}
	for _, n := range names {
		if d, err := l.file.Dataset(path.Join(keyBluesky[0], n)); err == nil {
			if s, err := d.Text(); err == nil {
				m[n] = s
			}
		}
	}
	return m
}

// ReadImage returns the mean scattering image in counts per pixel. It is also stored in
// Result.Image.
func (r *Result) ReadImage() (*Matrix, error) {
	if r.Image != nil || r.file == nil {
		return r.Image, nil
	}
	l := loader{file: r.file}
	r.Image = l.matrix(keySAXS2D, true)
	return r.Image, l.err
}

// ReadMaps returns the mask and the bins of every pixel. They are also stored in QMap.Maps.
func (r *Result) ReadMaps() (*Maps, error) {
	if r.QMap.Maps != nil || r.file == nil {
		return r.QMap.Maps, nil
	}
	m, err := readMaps(&loader{file: r.file})
	if err == nil {
		r.QMap.Maps = m
	}
	return m, err
}

func readMaps(l *loader) (*Maps, error) {
	mask, dynamic, static := l.matrix(keyMask, true), l.matrix(keyDynamic, true), l.matrix(keyStatic, true)
	if l.err != nil {
		return nil, l.err
	}
	n := len(mask.Data)
	if len(dynamic.Data) != n || len(static.Data) != n || dynamic.Cols != mask.Cols || static.Cols != mask.Cols {
		l.fail("the mask has the shape %s, the dynamic map %s and the static map %s: want equal shapes", mask.shape(), dynamic.shape(), static.shape())
		return nil, l.err
	}
	m := &Maps{Height: mask.Rows, Width: mask.Cols, Mask: make([]bool, n), Dynamic: make([]int32, n), Static: make([]int32, n)}
	if b := l.matrix(keyBlemish, false); b != nil && len(b.Data) == n {
		m.Blemish = make([]bool, n)
		for i, v := range b.Data {
			m.Blemish[i] = v != 0
		}
	}
	if l.err != nil {
		return nil, l.err
	}
	for i := range n {
		m.Mask[i], m.Dynamic[i], m.Static[i] = mask.Data[i] != 0, int32(dynamic.Data[i]), int32(static.Data[i])
		for _, v := range []float64{dynamic.Data[i], static.Data[i]} {
			if v != math.Trunc(v) || v < 0 || v > math.MaxInt32 {
				l.fail("pixel (%d, %d) is in bin %v: want 0 for none, and whole numbers from 1", i/m.Width, i%m.Width, v)
				return nil, l.err
			}
		}
	}
	return m, nil
}

// HasPixels reports whether the file behind a Result has the correlation of every pixel, or a link to it.
func (r *Result) HasPixels() bool {
	if r.file == nil {
		return false
	}
	l := loader{file: r.file}
	if l.has(keyUnnormalized) {
		return true
	}
	l.links(keyUnnormalized)
	return l.err != nil
}

// ReadUnnormalized returns three images for one delay, counted from 0: the
// correlation of each pixel and the means of its earlier and later frames.
func (r *Result) ReadUnnormalized(delay int) (g2, earlier, later *Matrix, err error) {
	if r.file == nil {
		return nil, nil, nil, &KeyError{File: r.File, Key: keyUnnormalized[0], What: "the correlation of pixels is only in a Result from Open"}
	}
	l := loader{file: r.file}
	d := l.dataset(keyUnnormalized, true)
	if d == nil {
		return nil, nil, nil, l.err
	}
	s := d.Shape()
	if len(s) != 4 || s[1] != 3 || delay < 0 || delay >= s[0] {
		l.fail("%s has the shape %v: want delay %d of (delays, 3, rows, columns)", d.Path(), s, delay)
		return nil, nil, nil, l.err
	}
	v, err := d.Slab([]int{delay, 0, 0, 0}, []int{1, 3, s[2], s[3]}).Float64s()
	if l.keep(d.Path(), err) {
		return nil, nil, nil, l.err
	}
	n := s[2] * s[3]
	cut := func(i int) *Matrix { return &Matrix{s[2], s[3], v[i*n : (i+1)*n]} }
	return cut(0), cut(2), cut(1), nil // files have the later frames first
}
