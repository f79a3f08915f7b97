// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

// maskSteps collects the steps of a mask in the order of the command line.
type maskSteps struct {
	steps     []mask.Step
	inclusive bool // whether the shapes that follow are inclusive
	drawing   bool // whether the last step takes further shapes
	files     []string
	lists     maskfile.ListSettings
	pending   []listStep // lists that are read once all flags are known
}

type listStep struct {
	at   int
	file string
}

// stepFlag is a flag that adds a step, each time it is given.
type stepFlag struct {
	kind string
	set  func(text string) error
}

func (f *stepFlag) String() string     { return "" }
func (f *stepFlag) Type() string       { return f.kind }
func (f *stepFlag) Set(s string) error { return f.set(s) }

func (m *maskSteps) add(c *cobra.Command) {
	s := c.Flags()
	for _, f := range []struct {
		name, kind, usage string
		set               func(string) error
	}{
		{"threshold", "low:high", "keep counts of at least low and less than high; either may be left out", m.threshold},
		{"circle", "row,col,radius", "mask a circle (in pixels, counted from 0)", m.shape(mask.Circle, 3, 3)},
		{"ellipse", "row,col,a,b[,deg]", "mask an ellipse with half-axes a along the rows and b along the columns, rotated by deg", m.shape(mask.EllipseShape, 4, 5)},
		{"rectangle", "row,col,h,w[,deg]", "mask a rectangle of height h and width w around a centre, rotated by deg", m.shape(mask.Rectangle, 4, 5)},
		{"polygon", "row,col,...", "mask a polygon with three or more corners", m.shape(mask.Polygon, 6, 20000)},
		{"line", "row,col,row,col,w", "mask a line of width w", m.shape(mask.Line, 5, 5)},
		{"outliers", "method:cutoff", "mask pixels that differ from their neighbours: percentile or mad, and the cutoff in units of their spread; append :rings=N or :tile=N to choose the neighbours (default 100 rings of q, or tiles of 32 pixels without a geometry)", m.outliers},
		{"parameter", "ranges", "keep ranges of the maps of the geometry, such as 'q>=0.002 & q<0.01 & -30<=phi<=30'; & (and) and | (or) are applied from left to right", m.parameter},
		{"list", "file", "mask the pixels in a list: JSON, or two columns x, y", m.list},
		{"file", "file", "keep only the pixels that a mask file (values above 0; in EDF and CBF 0), a q map or a result keeps; FILE:/path names a dataset in it", m.file},
	} {
		s.Var(&stepFlag{f.kind, f.set}, f.name, f.usage)
	}
	for name, inclusive := range map[string]bool{"include": true, "exclude": false} {
		use := map[bool]string{true: "keep only the inside of the shapes that follow", false: "mask the inside of the shapes that follow (the default)"}[inclusive]
		s.Var(&stepFlag{"bool", func(text string) error {
			on, err := strconv.ParseBool(text)
			m.inclusive = inclusive == on
			return err
		}}, name, use)
		s.Lookup(name).NoOptDefVal = "true"
	}
	s.BoolVar(&m.lists.RowFirst, "list-row-first", false, "read the row before the column in lists")
	s.BoolVar(&m.lists.FromOne, "list-from-one", false, "count pixels from 1 in lists")
}

func (m *maskSteps) push(s mask.Step) error {
	m.steps, m.drawing = append(m.steps, s), s.Draw != nil
	return nil
}

// draw adds a shape. Shapes given one after another are drawn together, so that several inclusive ones keep what lies in any of them.
func (m *maskSteps) draw(s mask.Shape) error {
	if s.Inclusive = m.inclusive; m.drawing {
		last := &m.steps[len(m.steps)-1]
		last.Draw = append(last.Draw, s)
		return nil
	}
	return m.push(mask.Step{Draw: []mask.Shape{s}})
}

func (m *maskSteps) threshold(text string) error {
	low, high, ok := strings.Cut(text, ":")
	t := &mask.Threshold{NoLow: low == "", NoHigh: high == ""}
	var err error
	if !t.NoLow {
		if t.Low, err = setting.Finite(low); err != nil {
			return err
		}
	}
	if !t.NoHigh {
		if t.High, err = setting.Finite(high); err != nil {
			return err
		}
	}
	if !ok || t.NoLow && t.NoHigh || !t.NoHigh && t.High == 0 || !t.NoLow && !t.NoHigh && t.Low >= t.High {
		return fmt.Errorf("want low:high with low below high and high not 0, such as 1:1e4, 1: or :1e4")
	}
	return m.push(mask.Step{Threshold: t})
}

// shape returns a function that reads a shape from a number of numbers.
func (m *maskSteps) shape(kind string, least, most int) func(string) error {
	return func(text string) error {
		v, err := setting.List(text)
		if err != nil {
			return err
		}
		if len(v) < least || len(v) > most || kind == mask.Polygon && len(v)%2 != 0 {
			want := fmt.Sprintf("%d to %d", least, most)
			if kind == mask.Polygon {
				want = "pairs of a row and a column, at least 3"
			} else if least == most {
				want = strconv.Itoa(least)
			}
			return fmt.Errorf("got %s: want %s", errtext.Count(len(v), "number"), want)
		}
		s := mask.Shape{Kind: kind}
		switch kind {
		case mask.Circle:
			s.Center, s.Radius = mask.Point{v[0], v[1]}, v[2]
		case mask.EllipseShape:
			s.Center, s.Axes = mask.Point{v[0], v[1]}, mask.Point{v[2], v[3]}
		case mask.Rectangle:
			s.Center, s.Size = mask.Point{v[0], v[1]}, mask.Point{v[2], v[3]}
		case mask.Line:
			s.From, s.To, s.Width = mask.Point{v[0], v[1]}, mask.Point{v[2], v[3]}, v[4]
		default:
			for i := 0; i < len(v); i += 2 {
				s.Vertices = append(s.Vertices, mask.Point{v[i], v[i+1]})
			}
		}
		if len(v) == 5 && kind != mask.Line {
			s.AngleDeg = v[4]
		}
		if _, err := s.Outline(); err != nil {
			return err
		}
		return m.draw(s)
	}
}

func (m *maskSteps) outliers(text string) error {
	parts := strings.Split(text, ":")
	o := &mask.Outliers{Method: parts[0]}
	if o.Method != mask.Percentile && o.Method != mask.MAD {
		return fmt.Errorf("the method %s", setting.Unknown(o.Method, []string{mask.Percentile, mask.MAD}))
	}
	for i, p := range parts[1:] {
		name, number, named := strings.Cut(p, "=")
		var err error
		switch {
		case i == 0 && !named:
			o.Cutoff, err = setting.Finite(p)
			if err == nil && o.Cutoff <= 0 {
				err = fmt.Errorf("the cutoff is %g: want a number above 0, in units of the spread", o.Cutoff)
			}
		case named && name == "rings":
			o.Rings, err = strconv.Atoi(number)
		case named && name == "tile":
			o.Tile, err = strconv.Atoi(number)
		default:
			err = fmt.Errorf("%q: want rings=N or tile=N after the cutoff", p)
		}
		if err != nil {
			return err
		}
	}
	if o.Rings < 0 || o.Tile < 0 || o.Rings > 0 && o.Tile > 0 {
		return fmt.Errorf("rings=%d, tile=%d: give one of them, above 0", o.Rings, o.Tile)
	}
	return m.push(mask.Step{Outliers: o})
}

func (m *maskSteps) list(file string) error {
	m.pending = append(m.pending, listStep{len(m.steps), file})
	return m.push(mask.Step{Pixels: [][2]int{}})
}

func (m *maskSteps) file(file string) error {
	if file == "" {
		return fmt.Errorf("want the name of a file")
	}
	m.files = append(m.files, file)
	return m.push(mask.Step{File: file})
}

// finish reads lists and chooses the regions of outliers, rings where there is a map of q.
func (m *maskSteps) finish(rings bool) ([]mask.Step, error) {
	for _, p := range m.pending {
		list, err := maskfile.ReadList(p.file, m.lists)
		if err != nil {
			return nil, exit.Input(err)
		}
		m.steps[p.at].Pixels = list
	}
	for i := range m.steps {
		if o := m.steps[i].Outliers; o != nil && o.Rings == 0 && o.Tile == 0 {
			if o.Tile = 32; rings {
				o.Rings, o.Tile = 100, 0
			}
		}
	}
	return m.steps, nil
}
