// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// QMap holds channels of every pixel of a detector.
type QMap struct {
	Geometry Geometry
	Height   int // number of rows
	Width    int // number of columns
	Channels []Channel
	Values   [][]float64 // row-major array (Height, Width) for each of Channels
}

// Channel returns a channel by name, row-major (Height, Width). It is the QMap's own array.
func (m *QMap) Channel(name string) ([]float64, error) {
	var names []string
	for i, c := range m.Channels {
		if c.Name == name {
			return m.Values[i], nil
		}
		names = append(names, c.Name)
	}
	return nil, fmt.Errorf("xpcs: %s", known("channel", name, names...))
}

// QMap computes every channel of the geometry, or only those that are named. The error lists
// everything that is missing or wrong.
func (g Geometry) QMap(channels ...string) (*QMap, error) { return g.QMapOn(nil, channels...) }

// QMapOn is QMap computed by a backend such as ad.CUDA{}; nil is the CPU.
func (g Geometry) QMapOn(b ad.Backend, channels ...string) (*QMap, error) {
	m, err := NewMapper(g, ad.Settings{Backend: b}, channels...)
	if err != nil {
		return nil, err
	}
	return m.Map(g) // the only one of this Mapper
}

// Mapper computes maps of one kind and shape while parameters change, such as those of a calibration
// or of a page where somebody moves the beam centre. It belongs to one goroutine.
type Mapper struct {
	kind     Geometry
	channels []Channel
	narrow   bool // whether the state computes in float32
	state    *ad.State
}

// NewMapper compiles the channels that are named, or all of them if none is, for the shape and kind
// of g. Settings choose precision and back end.
func NewMapper(g Geometry, s ad.Settings, channels ...string) (*Mapper, error) {
	g, err := g.complete()
	if err != nil {
		return nil, err
	}
	m := &Mapper{kind: g, narrow: s.Precision == 32}
	for _, c := range g.Channels() {
		if len(channels) == 0 {
			m.channels = append(m.channels, c)
		}
	}
	for _, name := range channels {
		m.channels = append(m.channels, Channel{name, g.Unit(name)})
	}
	row, col := ad.Reshape(count(g.Height), g.Height, 1), ad.Reshape(count(g.Width), 1, g.Width)
	s.Inputs = nil
	p := Parameters{}
	for _, at := range []**ad.Node{&p.CenterRow, &p.CenterCol, &p.PixelSize, &p.Distance, &p.Energy, &p.SwingHorizontal, &p.SwingVertical, &p.Incidence} {
		*at = ad.Input(fmt.Sprintf("parameter %d", len(s.Inputs)))
		s.Inputs = append(s.Inputs, *at)
	}
	if !m.swings() {
		p.SwingHorizontal, p.SwingVertical = nil, nil
	}
	var outs []*ad.Node
	for _, c := range m.channels {
		outs = append(outs, ad.Broadcast(g.Node(c.Name, row, col, p), g.Height, g.Width))
	}
	prog, err := ad.Compile(outs, s)
	if err != nil {
		return nil, fmt.Errorf("xpcs: q map: %w", err)
	}
	m.state = prog.NewState()
	return m, nil
}

// swings reports whether the detector can be turned about the sample. Where it is not, a map costs
// less.
func (m *Mapper) swings() bool {
	return m.kind.SwingHorizontal != 0 || m.kind.SwingVertical != 0
}

// count returns 0, 1, ... n-1.
func count(n int) *ad.Node {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i)
	}
	return ad.Const(v, n)
}

// Map computes the map of a geometry, which must have the shape and the kind that the Mapper was
// made for: convention, orientation, roll, and whether it is a reflection or has swing angles. Its values
// are valid until the next call of Map.
func (m *Mapper) Map(g Geometry) (*QMap, error) {
	g, err := g.complete()
	if err != nil {
		return nil, err
	}
	k := m.kind
	if g.Height != k.Height || g.Width != k.Width || g.Convention != k.Convention || g.Reflection != k.Reflection ||
		g.Orientation != k.Orientation || g.Roll != k.Roll || !m.swings() && (g.SwingHorizontal != 0 || g.SwingVertical != 0) {
		return nil, fmt.Errorf("xpcs: the Mapper was made for another kind of geometry (%d x %d pixels): make a new one for %d x %d pixels", k.Height, k.Width, g.Height, g.Width)
	}
	for i, v := range []float64{g.CenterRow, g.CenterCol, g.PixelSize, g.Distance, g.Energy, g.SwingHorizontal, g.SwingVertical, g.Incidence} {
		if err := m.state.SetInput(i, []float64{v}); err != nil {
			return nil, err
		}
	}
	if err := m.state.Run(); err != nil {
		return nil, err
	}
	out := &QMap{Geometry: g, Height: g.Height, Width: g.Width, Channels: m.channels}
	for i := range m.channels {
		if m.narrow {
			out.Values = append(out.Values, m.state.OutputFloat64(i))
		} else {
			out.Values = append(out.Values, m.state.Output(i))
		}
	}
	return out, nil
}
