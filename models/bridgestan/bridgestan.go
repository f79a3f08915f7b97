// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package bridgestan samples Stan programs that others compiled: it opens a shared library with BridgeStan's interface
// (https://roualdes.us/bridgestan) at run time, without cgo, and makes it a target of package infer. Package models/stan runs programs
// without a compiler; this one is for what it refuses.
//
//	m, err := bridgestan.Open("model.so", data, bridgestan.Settings{})
//	fit, err := infer.Sample(ctx, m, infer.Settings{})
//
// A library runs with the rights of the program that opens it: open only what you trust.
package bridgestan

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/kernels/cuda/dl"
)

// Settings rule how a library is used.
type Settings struct {
	// Seed is that of random numbers in transformed data and generated quantities.
	Seed uint32
	// NoJacobian leaves out the logarithm of the Jacobian of the constraints.
	NoJacobian bool
}

// Model is a program with its data: a target over unconstrained parameters. Libraries may not be safe for concurrent use, so that its
// clones take turns.
type Model struct {
	*library
	settings Settings
	dim      int
	names    []string
	params   int // columns of parameters, before transformed parameters and generated quantities
}

// library is what the clones of a Model share.
type library struct {
	mu     sync.Mutex
	path   string
	handle uintptr // of the program with its data
	funcs  map[string]uintptr

	failed int   // draws whose columns could not be computed
	first  error // the first time
}

// needed are the functions of the interface that are called.
var needed = []string{"bs_model_construct", "bs_model_destruct", "bs_free_error_msg", "bs_param_num", "bs_param_unc_num", "bs_param_names",
	"bs_param_constrain", "bs_log_density_gradient", "bs_rng_construct", "bs_rng_destruct"}

// Open opens a library and gives its program data, a JSON object. The gradient is compared with differences of the log density.
func Open(path string, data []byte, s Settings) (*Model, error) {
	if !foreign.Exists(path) {
		return nil, fmt.Errorf("bridgestan: there is no file %s: compile the program with BridgeStan first", path)
	}
	lib, err := dl.OpenFile("bridgestan", path)
	if err != nil {
		return nil, fmt.Errorf("bridgestan: %s cannot be opened: %w", path, err)
	}
	l := &library{path: path, funcs: map[string]uintptr{}}
	for _, name := range needed {
		if l.funcs[name] = lib.Symbol(name); l.funcs[name] == 0 {
			return nil, fmt.Errorf("bridgestan: %s has no function %s: it is no library of BridgeStan 2.1 or later", path, name)
		}
	}
	m := &Model{library: l, settings: s}
	if err := m.construct(data); err != nil {
		return nil, err
	}
	runtime.AddCleanup(l, func(h struct{ destruct, handle uintptr }) { dl.Call(h.destruct, h.handle) }, struct{ destruct, handle uintptr }{l.funcs["bs_model_destruct"], l.handle})
	m.dim = int(int32(dl.Call(l.funcs["bs_param_unc_num"], l.handle)))
	m.params = int(int32(dl.Call(l.funcs["bs_param_num"], l.handle, 0, 0)))
	if list := dl.Text(dl.Call(l.funcs["bs_param_names"], l.handle, 1, 1)); list != "" {
		m.names = strings.Split(list, ",")
	}
	if m.dim < 0 || m.params < 0 || m.params > len(m.names) {
		return nil, fmt.Errorf("bridgestan: %s tells of %d unconstrained and %d constrained parameters among %d columns: compile it again", path, m.dim, m.params, len(m.names))
	}
	if m.dim == 0 {
		return m, nil
	}
	if err := infer.CheckGradient(m); err != nil {
		return nil, fmt.Errorf("bridgestan: %s: %w", path, err)
	}
	return m, nil
}

func (m *Model) construct(data []byte) error {
	text, fault := dl.Bytes(string(data)), new(uintptr)
	m.handle = dl.Call(m.funcs["bs_model_construct"], uintptr(unsafe.Pointer(&text[0])), uintptr(m.settings.Seed), uintptr(unsafe.Pointer(fault)))
	if m.handle == 0 {
		return m.failure(*fault, "the program refuses its data")
	}
	return nil
}

// failure is the message of the library, which is freed.
func (m *Model) failure(message uintptr, otherwise string) error {
	text := strings.TrimSpace(foreign.Text(dl.Text(message)))
	if message != 0 {
		dl.Call(m.funcs["bs_free_error_msg"], message)
	}
	if text == "" {
		text = otherwise
	}
	return fmt.Errorf("bridgestan: %s: %s", m.path, text)
}

// Dim returns the number of unconstrained parameters.
func (m *Model) Dim() int { return m.dim }

// Clone returns the same model, since the library holds no state between calls.
func (m *Model) Clone() infer.Target { return m }

// Device returns where the log density is computed.
func (m *Model) Device() string { return "cpu" }

// LogProbGrad writes the gradient at q into g and returns the log density without constants. Points that the program rejects have -Inf.
func (m *Model) LogProbGrad(q, g []float64) (float64, error) {
	jacobian := uintptr(1)
	if m.settings.NoJacobian {
		jacobian = 0
	}
	lp, fault := new(float64), new(uintptr)
	m.mu.Lock()
	defer m.mu.Unlock()
	if dl.Call(m.funcs["bs_log_density_gradient"], m.handle, 1, jacobian, uintptr(unsafe.Pointer(unsafe.SliceData(q))), uintptr(unsafe.Pointer(lp)), uintptr(unsafe.Pointer(unsafe.SliceData(g))), uintptr(unsafe.Pointer(fault))) != 0 {
		return math.Inf(-1), infer.Reject(m.failure(*fault, "the log density could not be computed"))
	}
	if math.IsNaN(*lp) {
		return math.Inf(-1), nil
	}
	return *lp, nil
}

// Names returns the names of the columns, such as theta[1,2].
func (m *Model) Names() []string {
	out := make([]string, len(m.names))
	for i, n := range m.names {
		out[i] = indexed(n)
	}
	return out
}

// indexed writes theta.1.2 as theta[1,2].
func indexed(name string) string {
	base, index, ok := strings.Cut(name, ".")
	if !ok || strings.ContainsFunc(index, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) {
		return name
	}
	return base + "[" + strings.ReplaceAll(index, ".", ",") + "]"
}

// ParameterNames lists the columns of parameters.
func (m *Model) ParameterNames() []string { return m.Names()[:m.params] }

// Len returns the number of columns.
func (m *Model) Len() int { return len(m.names) }

// Write fills the columns from an unconstrained draw. Random numbers of generated quantities depend on the draw and the seed alone.
func (m *Model) Write(q, out []float64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	seed := m.settings.Seed ^ 0x9e3779b9
	for _, x := range q {
		b := math.Float64bits(x)
		seed = (seed ^ uint32(b) ^ uint32(b>>32)) * 0x01000193
	}
	fault := new(uintptr)
	random := dl.Call(m.funcs["bs_rng_construct"], uintptr(seed), uintptr(unsafe.Pointer(fault)))
	if random == 0 {
		return m.failure(*fault, "there is no random number generator")
	}
	defer dl.Call(m.funcs["bs_rng_destruct"], random)
	if dl.Call(m.funcs["bs_param_constrain"], m.handle, 1, 1, uintptr(unsafe.Pointer(unsafe.SliceData(q))), uintptr(unsafe.Pointer(unsafe.SliceData(out))), random, uintptr(unsafe.Pointer(fault))) != 0 {
		if m.failed++; m.failed == 1 {
			m.first = m.failure(*fault, "the columns could not be computed")
		}
		for i := range out {
			out[i] = math.NaN()
		}
	}
	return nil
}

// Observations is nil, since a library does not say what was observed.
func (m *Model) Observations() *infer.Posterior { return nil }

// Failures returns at how many of the written draws the columns could not be computed, so that they are NaN, and the first mistake.
func (m *Model) Failures() (n int, first error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed, m.first
}

var _ interface {
	infer.Target
	infer.Outputs
} = (*Model)(nil)
