package autodiff

import (
	"errors"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
)

// Several is a Backend of several GPUs. Engines share work among them that does not depend on each other, such as
// chains, fits, spectra and photon energies; they ask Spread how. A single Program runs on the first.
type Several []CUDA

func (s Several) options(set Settings) (cpu.Options, error) { return CPU{}.options(set) }

func (s Several) compile(p *compiler.Program, set Settings) (*cuda.Code, error) {
	if len(s) == 0 {
		return nil, errors.New("autodiff: Several without a GPU: want at least one")
	}
	return s[0].compile(p, set)
}

// Spread lists the backends among which an engine may share work: each GPU of Several by itself, and otherwise b
// alone.
func Spread(b Backend) []Backend {
	several, ok := b.(Several)
	if !ok || len(several) == 0 {
		return []Backend{b}
	}
	list := make([]Backend, len(several))
	for i, c := range several {
		list[i] = c
	}
	return list
}
