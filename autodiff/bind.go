package autodiff

import (
	"fmt"

	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
)

// Bind lets input i read data in place of the State's own array, so that large
// inputs are not copied; nil puts the State's array back. Each Run sees what data
// holds at that time and writes nothing to it; it must not overlap an output.
// A change costs about as much as NewState; a Run after it nothing more.
// Input(i) is data from then on; InputSpan does not see it.
func (s *State) Bind(i int, data []float64) error { return bind(s.f64, s.p, i, data) }

// Bind32 is Bind in a program of float32.
func (s *State) Bind32(i int, data []float32) error { return bind(s.f32, s.p, i, data) }

func bind[T cpu.Real](m machine[T], p *Program, i int, data []T) error {
	if err := p.hasInput(i); err != nil {
		return err
	}
	buf := p.code.InBufs[i]
	if m == nil || p.code.IsInts(buf) {
		return fmt.Errorf("autodiff: bind input %v: want elements of the program's type, float%d or indices", p.inputs[i], p.settings.Precision)
	}
	if n := p.code.Size(buf); data != nil && len(data) != n {
		return fmt.Errorf("autodiff: bind input %v: %d elements, want %d", p.inputs[i], len(data), n)
	}
	m.Bind(buf, data)
	return nil
}
