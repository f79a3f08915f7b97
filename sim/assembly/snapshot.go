// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/euryale-dev/euryale/internal/checkpoint"
)

// A snapshot is, in the format of package checkpoint, a header of JSON and lists of
// numbers:
//
//	per area:  per stored neuron whether it fired, winners, ...
//	per fibre: what is not drawn anew from the seed
//	per area:  for a lazy one, what fired in the rounds that its other neurons lost

const fileKind, fileVersion = "BRAIN", 3

// FormatError says what is wrong with a snapshot, and where.
type FormatError = checkpoint.FormatError

// refused returns the error of a snapshot, with what to try.
func refused(err error) error {
	return checkpoint.Refused(err, "assembly: snapshot", "check that the file is whole and the snapshot of a brain")
}

type header struct {
	Settings Settings
	Frozen   bool `json:",omitempty"`
	Step     int
	Areas    []savedArea
	Stimuli  []savedStimulus
	Fibres   []savedFibre
	Closed   []savedClosed `json:",omitempty"`
	Rivals   [][]string    `json:",omitempty"`
}

type savedArea struct {
	Area
	Fixed   bool `json:",omitempty"`
	Support int
	Recent  []int         `json:",omitempty"` // steps in which the area fired
	Defeats []savedDefeat `json:",omitempty"` // of a lazy area
}

type savedDefeat struct {
	Input, Rank float64  // of the last winner
	From        []string // what fired
}

type savedStimulus struct {
	Name string
	Size int
}

type savedFibre struct {
	From, To string
	P, Beta  float64
	Rule     Rule
	Scaled   bool `json:",omitempty"`
	Planned  bool `json:",omitempty"`
	Given    bool `json:",omitempty"`
}

type savedClosed struct {
	Ends    [2]string
	Indices []int
}

// Save writes a snapshot from which Load goes on exactly as b would. Connections that the seed
// determines are not part of it.
func (b *Brain) Save(w io.Writer) error {
	b.settle()
	head, err := json.Marshal(b.header())
	if err != nil {
		return fmt.Errorf("assembly: snapshot: %w", err)
	}
	return checkpoint.Write(w, fileKind, fileVersion, func(out *checkpoint.Encoder) {
		out.Bytes(head)
		for _, a := range b.areas {
			out.Bools(a.fired)
			out.Int32s(a.winners)
			out.Int32s(a.times)
			out.Floats(a.memory.ranks)
			for _, r := range a.recent {
				out.Int32s(r.winners)
			}
		}
		for _, f := range b.fibres {
			f.save(out)
		}
		for _, a := range b.areas {
			for _, d := range a.memory.defeats {
				for _, v := range d.firing {
					out.Int32s(v.winners)
				}
			}
		}
	})
}

func (b *Brain) header() header {
	h := header{Settings: b.set, Frozen: b.frozen, Step: b.step, Rivals: b.rivals}
	h.Settings.Connect, h.Settings.Threads = nil, 0
	for _, a := range b.areas {
		s := savedArea{Area: a.Area, Fixed: a.fixed, Support: a.support}
		for _, r := range a.recent {
			s.Recent = append(s.Recent, r.step)
		}
		for _, d := range a.memory.defeats {
			saved := savedDefeat{Input: d.input, Rank: d.rank}
			for _, v := range d.firing {
				saved.From = append(saved.From, v.from)
			}
			s.Defeats = append(s.Defeats, saved)
		}
		h.Areas = append(h.Areas, s)
	}
	for _, s := range b.stimuli {
		h.Stimuli = append(h.Stimuli, savedStimulus{s.name, s.size})
	}
	for _, f := range b.fibres {
		h.Fibres = append(h.Fibres, savedFibre{f.From, f.To, f.P, f.beta, f.rule, f.scale != nil, f.planned, f.given})
	}
	for k, s := range b.closed.by {
		h.Closed = append(h.Closed, savedClosed{k, slices.Sorted(maps.Keys(s))})
	}
	slices.SortFunc(h.Closed, func(x, y savedClosed) int { return slices.Compare(x.Ends[:], y.Ends[:]) })
	return h
}

func (f *fibre) save(out *checkpoint.Encoder) {
	if f.scale != nil {
		out.Floats(f.scale)
	}
	switch {
	case f.stimulus != nil:
		out.Int32s(f.inputs)
		out.Floats(f.total)
		out.Int32s(f.grown)
	case f.given:
		for i := range int32(f.from.N) {
			r := f.synapses.rows[i]
			var to []int32
			r.links.each(func(j int32) { to = append(to, j) })
			out.Int32s(to)
			out.Int32s(r.to)
			out.Floats(r.weight)
		}
	case f.synapses != nil:
		var sources []int32
		for i, r := range f.synapses.rows {
			if len(r.to) > 0 {
				sources = append(sources, i)
			}
		}
		slices.Sort(sources)
		out.Int32s(sources)
		for _, i := range sources {
			out.Int32s(f.synapses.rows[i].to)
			out.Floats(f.synapses.rows[i].weight)
		}
	default:
		for i := range int32(f.rows.sources()) {
			var to []int32
			var weight []float32
			f.rows.each(i, func(j int32, w float32) { to, weight = append(to, j), append(weight, w) })
			out.Int32s(to)
			out.Float32s(weight)
		}
	}
}
