// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"fmt"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// AgeScatter describes how C2 of one bin varies from one group of pixels to another, from which the
// errors of g2 at different ages follow. Euryale writes it in addition to what viewers read.
type AgeScatter struct {
	Delays         []int // delays in steps of C2
	Blocks, Groups int
	Wider          float64   // factor by which the variances are multiplied
	Values         []float32 // values by delay, block of time and group
}

// AddAges writes, for the map added by AddMap before, how it varies from pixel to pixel.
func (w *Writer) AddAges(a *AgeScatter) error {
	if w.maps == 0 || len(a.Values) != len(a.Delays)*a.Blocks*a.Groups {
		return fmt.Errorf("nexus: cannot write the scatter of map %d: there are %d numbers for %d delays, %d blocks and %d groups: want one for each", w.maps, len(a.Values), len(a.Delays), a.Blocks, a.Groups)
	}
	err := w.s.ages(a, w.maps, !w.ages)
	w.ages = true
	return err
}

// ages writes the scatter of a map, and with the first one the delays of all.
func (s saver) ages(a *AgeScatter, number int, first bool) error {
	if first {
		s.Write(keyAges[0]+"/delay_list", a.Delays, hdf5.Layout{})
	}
	s.Write(fmt.Sprintf("%s/wider_%05d", keyAges[0], number), a.Wider, hdf5.Layout{})
	return s.Write(fmt.Sprintf("%s/scatter_%05d", keyAges[0], number), a.Values, packed(len(a.Delays), a.Blocks, a.Groups))
}

// ReadAges reads how the map at an index in Twotime.Bins, from 0, varies from pixel to pixel. It
// returns nil if the file does not say so.
func (r *Result) ReadAges(i int) (*AgeScatter, error) {
	if r.file == nil || r.Twotime == nil || i < 0 || i >= len(r.Twotime.names) {
		return nil, nil
	}
	number := r.Twotime.names[i][len("c2_"):]
	l := &loader{file: r.file}
	d := l.dataset(key{keyAges[0] + "/scatter_" + number}, false)
	if d == nil {
		return nil, l.err
	}
	a := &AgeScatter{Delays: l.ints(key{keyAges[0] + "/delay_list"}), Wider: l.number(key{keyAges[0] + "/wider_" + number}, true)}
	s := d.Shape()
	if l.err == nil && (len(s) != 3 || s[0] != len(a.Delays) || s[1] < 1 || s[2] < 2 || !(a.Wider > 0)) {
		l.fail("%s has the shape %v and the factor %[4]g, but there are %[3]d delays: want values by delay, block and group, and a factor above 0", d.Path(), s, len(a.Delays), a.Wider)
	}
	if l.err != nil {
		return nil, l.err
	}
	v, err := d.Float64s()
	if l.keep(d.Path(), err) {
		return nil, l.err
	}
	a.Blocks, a.Groups, a.Values = s[1], s[2], make([]float32, len(v))
	for i, x := range v {
		a.Values[i] = float32(x)
	}
	return a, nil
}
