package assembly

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
)

// A snapshot is a line that names the format, a header of JSON, blocks of
// little-endian numbers and a checksum:
//
//	EURYALE-BRAIN 1\n
//	uint32 length, header
//	per area:  uint32 winners..., per neuron of a whole area whether it fired, ...
//	per fibre: what is not drawn anew from the seed
//	uint32 CRC-32C of all before
//
// Each block begins with its length in numbers.

const magic = "EURYALE-BRAIN 1\n"

// FormatError says where a snapshot is not as it should be.
type FormatError struct {
	Offset int64 // bytes from the start
	What   string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("assembly: snapshot, byte %d: %s: is the file whole, and a snapshot of a brain?", e.Offset, e.What)
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
	Recent  []int `json:",omitempty"` // steps in which it fired
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

// Save writes a snapshot from which Load goes on exactly as b would. Connections that
// the seed gives are not part of it.
func (b *Brain) Save(w io.Writer) error {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	out := &blocks{w: io.MultiWriter(w, sum)}
	out.bytes([]byte(magic))
	head, err := json.Marshal(b.header())
	if err != nil {
		return fmt.Errorf("assembly: snapshot: %w", err)
	}
	out.put(head)
	for _, a := range b.areas {
		out.put(a.winners)
		out.put(a.fired)
		out.put(a.times)
		for _, r := range a.recent {
			out.put(r.winners)
		}
	}
	for _, f := range b.fibres {
		f.save(out)
	}
	if out.err == nil {
		out.err = binary.Write(w, binary.LittleEndian, sum.Sum32())
	}
	return out.err
}

func (b *Brain) header() header {
	h := header{Settings: b.set, Frozen: b.frozen, Step: b.step, Rivals: b.rivals}
	h.Settings.Connect, h.Settings.Threads = nil, 0
	for _, a := range b.areas {
		s := savedArea{Area: a.Area, Fixed: a.fixed, Support: a.support}
		for _, r := range a.recent {
			s.Recent = append(s.Recent, r.step)
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

func (f *fibre) save(out *blocks) {
	if f.scale != nil {
		out.put(f.scale)
	}
	switch {
	case f.stimulus != nil:
		out.put(f.inputs)
		out.put(f.total)
		out.put(f.grown)
	case f.given:
		for i := range int32(f.from.N) {
			r := f.web.rows[i]
			var to []int32
			r.links.each(func(j int32) { to = append(to, j) })
			out.put(to)
			out.put(r.to)
			out.put(r.weight)
		}
	case f.web != nil:
		var sources []int32
		for i, r := range f.web.rows {
			if len(r.to) > 0 {
				sources = append(sources, i)
			}
		}
		slices.Sort(sources)
		out.put(sources)
		for _, i := range sources {
			out.put(f.web.rows[i].to)
			out.put(f.web.rows[i].weight)
		}
	default:
		for _, row := range f.rows {
			to, weight := make([]int32, len(row)), make([]float32, len(row))
			for k, s := range row {
				to[k], weight[k] = s.to, s.weight
			}
			out.put(to)
			out.put(weight)
		}
	}
}

// blocks writes numbers.
type blocks struct {
	w   io.Writer
	err error
}

func (o *blocks) bytes(p []byte) {
	if o.err == nil {
		_, o.err = o.w.Write(p)
	}
}

// put writes a slice of numbers after its length.
func (o *blocks) put(slice any) {
	size := binary.Size(slice)
	length := size
	switch slice.(type) {
	case []int32, []float32:
		length /= 4
	case []float64:
		length /= 8
	}
	buf := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+size), uint32(length))
	buf, err := binary.Append(buf, binary.LittleEndian, slice)
	if err != nil && o.err == nil {
		o.err = err
	}
	o.bytes(buf)
}
