// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"unsafe"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// repeated is a step that runs a program again and again on the device, and the kernels of that program.
type repeated struct {
	*compiler.Scan
	source *Source
}

// Scan makes the kernels of a scan: those of its program, which are launched for every step. One whose number of
// steps the processor does not know runs on the processor, and so does one with a step that does.
func Scan(s *Step) bool {
	scan := s.Obj.(*compiler.Scan)
	if scan.Count >= 0 || scan.Until >= 0 || s.g.options.Storage != "" {
		return false
	}
	source := Generate(scan.Body, s.g.options)
	if len(planOf(scan.Body, source).hosted) > 0 {
		return false
	}
	s.g.fails = s.g.fails || source.Fails
	s.list = append(s.list, Launch{repeated: &repeated{scan, source}})
	return true
}

// launches returns the number of launches of a run.
func (r *repeated) launches() int { return max(1, r.Steps*r.source.launches()) }

// inner is the memory of the program of a scan.
type inner[T cpu.Real] struct {
	*repeated
	*Machine[T]
}

// newInner allocates the memory for a scan of m.
func (m *Machine[T]) newInner(k kernel) (*inner[T], error) {
	sub := &Machine[T]{Code: k.code, host: cpu.NewMirror[T](k.code.p, m.o), o: m.o, on: m.on}
	return &inner[T]{k.repeated, sub}, sub.allocate()
}

// run puts all steps of a scan on a stream. at returns the memory of an array of the program around.
func (n *inner[T]) run(s *device.Stream, v *compiler.Value, at func(buf int) device.Part) error {
	in := func(k int) device.Part {
		x := v.In[k]
		p := at(x.Layout.Root.Place.Buf)
		p.Offset += x.Layout.Offset * n.bytesOf(x.IsInt)
		return p
	}
	bytes := func(buf int) int { return n.width(buf) * n.p.Size(buf) }
	move := func(to, from device.Part, bytes int) error {
		return s.Copy(to.Buffer, to.Offset, from.Buffer, from.Offset, bytes)
	}
	places, results := n.p.InBufs, n.p.OutBufs
	for k, buf := range places {
		if stacked := k >= n.Carries && k < n.Carries+n.Inputs; !stacked {
			if err := move(n.own(buf), in(k), bytes(buf)); err != nil {
				return err
			}
		}
	}
	out := at(v.Place.Buf)
	for t := range n.Steps {
		place := n.Place(t, n.Steps)
		for k, buf := range places[n.Carries : n.Carries+n.Inputs] {
			from := in(n.Carries + k)
			from.Offset += place * bytes(buf)
			if err := move(n.own(buf), from, bytes(buf)); err != nil {
				return err
			}
		}
		if err := n.launchAll(s); err != nil {
			return err
		}
		to := out
		for _, buf := range results[:n.Carries] {
			to.Offset += bytes(buf)
		}
		for _, buf := range results[n.Carries:] {
			one := to
			one.Offset += place * bytes(buf)
			if err := move(one, n.own(buf), bytes(buf)); err != nil {
				return err
			}
			to.Offset += n.Steps * bytes(buf)
		}
		for k, buf := range results[:n.Carries] {
			if err := move(n.own(places[k]), n.own(buf), bytes(buf)); err != nil {
				return err
			}
		}
	}
	for _, buf := range places[:n.Carries] {
		if err := move(out, n.own(buf), bytes(buf)); err != nil {
			return err
		}
		out.Offset += bytes(buf)
	}
	return nil
}

// bytesOf returns the bytes of an index or of a real.
func (m *Machine[T]) bytesOf(isInt bool) int {
	if isInt {
		return 8
	}
	return int(unsafe.Sizeof(*new(T)))
}
