// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Mask is a file that says which pixels of the detector count. In JSON it is the name of the file, or an object.
type Mask struct {
	File string `json:"file"`
	// Keep says which numbers keep a pixel: "zero" or "nonzero". Default: "zero" for NPY, NPZ, EDF, CBF and arrays called pixel_mask, and
	// "nonzero" for TIFF and other HDF5.
	Keep string `json:"keep,omitempty"`
	// Transpose exchanges rows and columns.
	Transpose bool `json:"transpose,omitempty"`
}

// UnmarshalJSON reads a name, or an object of the fields.
func (m *Mask) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &m.File) == nil {
		return nil
	}
	type plain Mask
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(m))
}

// mask unites the masks of the file and of the settings, and bins the result.
func (set *Set) mask(c *content, s Settings) error {
	if set.Kind != Images {
		return set.detector(s)
	}
	rows, columns, _ := c.pixels(s)
	var keep []bool
	unite := func(k []bool) {
		if keep == nil {
			keep = slices.Repeat([]bool{true}, rows*columns)
		}
		for i := range keep {
			keep[i] = keep[i] && k[i]
		}
	}
	for _, v := range c.vars {
		if !isNamed(v, maskNames) {
			continue
		}
		k, err := set.own(v, rows, columns)
		if err != nil {
			return err
		}
		unite(k)
	}
	for _, m := range s.Masks {
		k, err := set.readMask(m, rows, columns, s)
		if err != nil {
			return err
		}
		unite(k)
	}
	if keep == nil {
		return nil
	}
	set.Keep = binnedMask(keep, rows, columns, s.bin())
	if !slices.Contains(set.Keep, true) {
		return set.defect(`give other masks, or say of one that is meant the other way round {"file": ..., "keep": "zero"} or "nonzero"`, "the masks leave out all %d pixels", len(set.Keep))
	}
	return nil
}

// Planned returns a set without data on the detector of the settings, for a measurement that has not been made.
func Planned(s Settings) (*Set, error) {
	set := &Set{Name: "the problem", Kind: Curves}
	return set, set.detector(s)
}

// detector finds which detector reduced data come from: its shape, place and mask, as far as the settings say. Maps have their own shape.
func (set *Set) detector(s Settings) error {
	switch shape := s.Geometry.Shape; {
	case set.Kind == Maps:
		set.Rows, set.Columns = len(set.Maps[0].QY), len(set.Maps[0].QX)
	case shape != nil:
		set.Rows, set.Columns = shape[0], shape[1]
	case len(s.Masks) > 0:
		p, err := openMask(s.Masks[0], 0, 0)
		if err != nil {
			return fmt.Errorf("scatter: mask %s: %w", s.Masks[0].File, err)
		}
		if s.Masks[0].Transpose {
			p = p.turned()
		}
		set.Rows, set.Columns = p.height, p.width
	}
	g := &set.Geometry
	*g = Geometry{PixelY: s.Geometry.Pixel, PixelX: s.Geometry.Pixel, Distance: s.Geometry.Distance}
	if b := s.Geometry.Beam; b != nil {
		g.PoniX, g.PoniY = b[0]*g.PixelX, b[1]*g.PixelY
	}
	if r := s.Geometry.Rot; r != nil {
		g.Rot1, g.Rot2, g.Rot3 = r[0], r[1], r[2]
	}
	for _, m := range s.Masks {
		k, err := set.readMask(m, set.Rows, set.Columns, s)
		if err != nil {
			return err
		}
		if set.Keep == nil {
			set.Keep = slices.Repeat([]bool{true}, len(k))
		}
		for i := range k {
			set.Keep[i] = set.Keep[i] && k[i]
		}
	}
	known := s.Geometry.Distance != 0 && s.Geometry.Pixel != 0 && s.Geometry.Beam != nil
	if set.Kind == Maps || !known && s.Geometry == (GeometrySettings{}) && len(s.Masks) == 0 {
		return nil
	}
	if !known || set.Rows < 1 || set.Columns < 1 {
		return set.defect(`add "geometry": {"distance": 500, "pixel": 0.06, "beam": [x, y], "shape": [rows, columns]} (mm, mm, pixels from the corner), or leave masks and geometry out`,
			"only a part of the detector is known from which the reduced data come: its distance is %g mm, its pixels are %g mm, and it has %d x %d of them", g.Distance, g.PixelY, set.Rows, set.Columns)
	}
	return set.possible()
}

// pixels returns the shape of the images in the file.
func (c *content) pixels(s Settings) (rows, columns int, err error) {
	v, err := c.main(s)
	if err != nil {
		return 0, 0, err
	}
	l, err := c.layOut(v)
	if err != nil {
		return 0, 0, err
	}
	return l.length(row), l.length(column), nil
}

// binnedMask keeps a pixel if all its parts are kept.
func binnedMask(keep []bool, rows, columns, bin int) []bool {
	height, width := rows/bin, columns/bin
	out := slices.Repeat([]bool{true}, height*width)
	for i, k := range keep {
		if y, x := i/columns/bin, i%columns/bin; y < height && x < width && !k {
			out[y*width+x] = false
		}
	}
	return out
}

// own reads a mask beside the images: not 0 is bad, unless its description says that it is kept.
func (set *Set) own(v *variable, rows, columns int) ([]bool, error) {
	x, err := v.values()
	if err != nil {
		return nil, err
	}
	if !slices.Equal(v.shape, []int{rows, columns}) {
		return nil, set.misfit(v.name, v.shape, rows, columns)
	}
	if err := saysNothing(x); err != nil {
		return nil, fmt.Errorf("scatter: %s: mask %s: %w", set.Name, v.name, err)
	}
	about := strings.ToLower(v.attrs["long_name"] + " " + v.attrs["description"])
	return kept(x, strings.Contains(about, "keep") || strings.Contains(about, "1 = good") || strings.Contains(about, "valid")), nil
}

// kept returns which pixels a mask keeps; one of NaN is always a bad one.
func kept(x []float64, nonzero bool) []bool {
	out := make([]bool, len(x))
	for i, v := range x {
		out[i] = !math.IsNaN(v) && (v != 0) == nonzero
	}
	return out
}

// saysNothing returns an error if all numbers of a mask are NaN.
func saysNothing(x []float64) error {
	if slices.ContainsFunc(x, func(v float64) bool { return !math.IsNaN(v) }) {
		return nil
	}
	return fmt.Errorf("all %s are NaN: write it again, with 0 and 1", count(len(x), "number"))
}

// misfit says that a mask has another shape than the images.
func (set *Set) misfit(name string, shape []int, rows, columns int) error {
	hint, try := "", "give the mask of this detector"
	if len(shape) == 2 && shape[0] == columns && shape[1] == rows {
		hint, try = ": its transpose fits", `say "transpose": true with the mask`
	}
	return set.defect(try, "the mask %s has the shape %v and the images %d x %d (rows x columns)%s", name, shape, rows, columns, hint)
}

// readMask reads the mask of a file.
func (set *Set) readMask(m Mask, rows, columns int, s Settings) ([]bool, error) {
	if m.Keep != "" && m.Keep != "zero" && m.Keep != "nonzero" {
		return nil, set.defect(`choose "zero" or "nonzero"`, "the mask %s says keep is %q", m.File, m.Keep)
	}
	p, err := openMask(m, rows, columns)
	if err != nil {
		return nil, fmt.Errorf("scatter: mask %s: %w", m.File, err)
	}
	if m.Transpose {
		p = p.turned()
	}
	if p.height != rows || p.width != columns {
		return nil, set.misfit(m.File, []int{p.height, p.width}, rows, columns)
	}
	if err := set.doubt(m, p); err != nil {
		return nil, err
	}
	return p.keep, set.turnedMask(m, p, s)
}

// plane is a mask with its convention.
type plane struct {
	height, width int
	keep          []bool
	convention    string // that was assumed; empty where it is that of the format
	ambiguous     bool   // whether files of this format have both conventions
}

func (p plane) turned() plane {
	out := p
	out.height, out.width, out.keep = p.width, p.height, make([]bool, len(p.keep))
	for i, k := range p.keep {
		out.keep[i%p.width*p.height+i/p.width] = k
	}
	return out
}

// openMask reads a mask in the convention of its format.
func openMask(m Mask, rows, columns int) (plane, error) {
	file, key := maskfile.Split(m.File)
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json":
		if p, ok, err := polygons(file, rows, columns); ok || err != nil {
			return p, err
		}
	case ".npy", ".npz", ".tif", ".tiff", ".edf", ".cbf":
		im, err := maskfile.ReadImage(m.File, maskfile.Settings{})
		if err == nil {
			err = saysNothing(im.Values)
		}
		if err != nil {
			return plane{}, err
		}
		ending := strings.ToLower(filepath.Ext(file))
		nonzero, convention := strings.HasPrefix(ending, ".tif"), m.Keep
		if m.Keep != "" {
			nonzero = m.Keep == "nonzero"
		} else {
			convention = map[bool]string{true: "nonzero", false: "zero"}[nonzero]
		}
		return plane{im.Height, im.Width, kept(im.Values, nonzero), convention, strings.HasPrefix(ending, ".tif")}, nil
	case ".h5", ".hdf", ".hdf5":
		if f, err := hdf5.Open(file); err == nil {
			defer f.Close()
			if key == "" && f.Has("/M_ROIMask") {
				return nika(f, m)
			}
		}
	}
	im, err := maskfile.Read(m.File, maskfile.Settings{})
	if err != nil && strings.Contains(err.Error(), "how large") { // a list of pixels
		im, err = maskfile.Read(m.File, maskfile.Settings{Height: rows, Width: columns})
	}
	if err != nil {
		return plane{}, err
	}
	p := plane{im.Height, im.Width, im.Keep, "nonzero", false}
	if m.Keep == "zero" {
		p.convention = "zero"
		for i, k := range p.keep {
			p.keep[i] = !k
		}
	}
	return p, nil
}

// nika reads a mask of Nika, whose x comes first and whose 1 is a pixel that is kept.
func nika(f *hdf5.File, m Mask) (plane, error) {
	d, err := f.Dataset("/M_ROIMask")
	if err != nil {
		return plane{}, err
	}
	x, err := d.Float64s()
	if err != nil {
		return plane{}, err
	}
	shape := d.Shape()
	if len(shape) != 2 {
		return plane{}, fmt.Errorf("M_ROIMask has the shape %v: want columns and rows", shape)
	}
	return plane{shape[0], shape[1], kept(x, m.Keep != "zero"), "nonzero", false}.turned(), nil
}

// polygons reads a list of JSON texts with the corners of polygons, in the places of middles of pixels; pixels inside are bad. ok is false
// if the file is no such list.
func polygons(file string, rows, columns int) (p plane, ok bool, err error) {
	b, err := foreign.ReadFile(file)
	if err != nil {
		return p, false, err
	}
	var texts []string
	if json.Unmarshal(b, &texts) != nil || len(texts) == 0 {
		return p, false, nil
	}
	p = plane{rows, columns, slices.Repeat([]bool{true}, rows*columns), "", false}
	for n, text := range texts {
		var corner map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &corner); err != nil {
			return p, true, fmt.Errorf("polygon %d is no object with x and y: %w", n+1, foreign.InWords([]byte(text), err))
		}
		x, y := corners(corner["x"]), corners(corner["y"])
		if len(x) != len(y) || len(x) < 3 {
			return p, true, fmt.Errorf("polygon %d has %d numbers for x and %d for y: want as many of each, at least 3", n+1, len(x), len(y))
		}
		for i := range p.keep {
			if inside(float64(i%columns), float64(i/columns), x, y) {
				p.keep[i] = false
			}
		}
	}
	return p, true, nil
}

// corners reads a list of numbers, or an object of them by their number.
func corners(raw json.RawMessage) (out []float64) {
	if json.Unmarshal(raw, &out) == nil {
		return out
	}
	var by map[string]float64
	if json.Unmarshal(raw, &by) != nil {
		return nil
	}
	for i := range len(by) {
		v, ok := by[fmt.Sprint(i)]
		if !ok {
			return nil
		}
		out = append(out, v)
	}
	return out
}

// inside reports whether a place is in a polygon.
func inside(px, py float64, x, y []float64) bool {
	in := false
	for i, j := 0, len(x)-1; i < len(x); j, i = i, i+1 {
		if (y[i] > py) != (y[j] > py) && px < (x[j]-x[i])*(py-y[i])/(y[j]-y[i])+x[i] {
			in = !in
		}
	}
	return in
}

// The shares of pixels that masks usually keep. Beyond them, the convention is asked for.
const (
	leastKept, mostKept = 0.02, 0.999
	leastAmbiguous      = 0.5
)

// doubt asks for the convention of a mask that keeps too little or nearly all.
func (set *Set) doubt(m Mask, p plane) error {
	n := 0
	for _, k := range p.keep {
		if k {
			n++
		}
	}
	share := float64(n) / float64(len(p.keep))
	least := leastKept
	if p.ambiguous {
		least = leastAmbiguous
	}
	if m.Keep != "" || p.convention == "" || share >= least && share <= mostKept {
		return nil
	}
	question, try := "is 1 = keep", "nonzero"
	if p.convention == "nonzero" {
		question, try = "is 0 = keep", "zero"
	}
	return set.defect(fmt.Sprintf(`say {"file": %q, "keep": %q}, or "keep": %q if it is right`, m.File, try, p.convention),
		"the mask %s keeps %.3g %% of the pixels: %s?", m.File, 100*share, question)
}

// turnedMask finds masks whose rows and columns are exchanged, by the pixels that never count anything.
func (set *Set) turnedMask(m Mask, p plane, s Settings) error {
	if set.Kind != Images || p.height != p.width || m.Transpose || p.convention == "" || s.bin() > 1 || set.Rates {
		return nil
	}
	turned := p.turned()
	dead, covered, other := 0, 0, 0
	for i := range p.keep {
		if slices.ContainsFunc(set.Frames, func(f Frame) bool { return f.Counts[i] > 0 }) || !set.lit(i) {
			continue
		}
		dead++
		if !p.keep[i] {
			covered++
		}
		if !turned.keep[i] {
			other++
		}
	}
	if dead >= 10 && other > covered+dead/2 {
		return set.defect(`say "transpose": true with the mask, or give "keep" if it is right`, "the mask %s covers %d of the %d dead pixels, and its transpose %d of them: are rows and columns exchanged?", m.File, covered, dead, other)
	}
	return nil
}

// lit reports whether the neighbours of a pixel count something, so that it is dead and not dark.
func (set *Set) lit(i int) bool {
	n, sum := 0, 0.0
	for _, d := range []int{-1, 1, -set.Columns, set.Columns, -set.Columns - 1, set.Columns + 1} {
		if k := i + d; k >= 0 && k < set.Rows*set.Columns {
			for _, f := range set.Frames {
				if !math.IsNaN(f.Counts[k]) {
					sum += f.Counts[k]
				}
			}
			n++
		}
	}
	return n > 0 && sum > 5*float64(n)
}
