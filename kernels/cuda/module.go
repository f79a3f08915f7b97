// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// Module holds compiled kernels. It lives as long as its device.
type Module struct {
	d      *Device
	handle drv.Module
	name   string
	mu     sync.Mutex
	kernel map[string]*Function
}

// Function is a kernel of a module.
type Function struct {
	m          *Module
	handle     drv.Function
	name       string
	sizes      []int // B, of the parameters; nil if the driver does not tell
	maxThreads int   // of a block
	shared     int   // B, static
	mu         sync.Mutex
	dynamic    int // B, of dynamic shared memory that launches may use
}

// modules keeps what was compiled, by source.
type modules struct {
	once     sync.Once
	compiler *rtc.Compiler
	err      error
	mu       sync.Mutex
	known    map[string]*pendingModule
	loaded   []drv.Module
}

// pendingModule is a module that is being compiled, or was.
type pendingModule struct {
	done chan struct{}
	m    *Module
	err  error
}

// compilerOf finds the compiler when it is first needed.
func (ms *modules) compilerOf(o rtc.Settings) (*rtc.Compiler, error) {
	ms.once.Do(func() { ms.compiler, ms.err = rtc.Open(o) })
	return ms.compiler, ms.err
}

// Compiler returns the run-time compiler of the device. The error wraps rtc.ErrNoCompiler if there is
// none.
func (d *Device) Compiler() (*rtc.Compiler, error) { return d.modules.compilerOf(d.options.Compiler) }

// Compile returns the kernels of a program in CUDA C. They come from an earlier call with the same
// program, from the cache on disk, or from the compiler. If the program is wrong, the error is a
// *rtc.CompileError. Without a compiler the kernels come from the program's PTX, if it has one;
// otherwise the error wraps rtc.ErrNoCompiler. While a graph is captured, only kernels of an
// earlier call can be returned.
func (d *Device) Compile(s rtc.Source) (*Module, error) {
	c, err := d.Compiler()
	switch {
	case err != nil && s.PTX != nil:
		return d.once("PTX of "+s.Name, s.Name, func() (*Module, error) { return d.load(s.PTX, s.Name) })
	case err != nil:
		return nil, err
	}
	target := rtc.Target{Major: d.info.Capability[0], Minor: d.info.Capability[1]}
	key, err := c.Key(s, target)
	if err != nil {
		return nil, err
	}
	return d.once(key, s.Name, func() (*Module, error) { return d.compile(c, s, target) })
}

// once calls a function that makes a module, unless an earlier call with the same key succeeded, and
// returns the module.
func (d *Device) once(key, name string, makes func() (*Module, error)) (*Module, error) {
	ms := &d.modules
	ms.mu.Lock()
	p := ms.known[key]
	if p == nil {
		if err := d.refuse("Device.Compile", "it would wait for the compiler: compile "+name+" before the capture"); err != nil {
			ms.mu.Unlock()
			return nil, err
		}
		p = &pendingModule{done: make(chan struct{})}
		if ms.known == nil {
			ms.known = map[string]*pendingModule{}
		}
		ms.known[key] = p
		ms.mu.Unlock()
		if p.m, p.err = makes(); p.err != nil {
			ms.mu.Lock()
			delete(ms.known, key) // the next call tries again
			ms.mu.Unlock()
		}
		close(p.done)
		return p.m, p.err
	}
	ms.mu.Unlock()
	<-p.done
	return p.m, p.err
}

// compile makes and loads an image. A driver that is older than the compiler refuses its code; then
// the image is removed from the cache and PTX is tried.
func (d *Device) compile(c *rtc.Compiler, s rtc.Source, t rtc.Target) (*Module, error) {
	defer d.profile.endCompile(time.Now(), s.Name)
	image, err := c.Compile(s, t)
	if err != nil {
		return nil, err
	}
	m, err := d.load(image.Data, s.Name)
	if !refusedImage(err) {
		return m, err
	}
	c.Evict(image)
	if image.PTX {
		return nil, err
	}
	ptx, e := c.CompilePTX(s, t)
	if e != nil {
		return nil, errors.Join(err, e)
	}
	m, e = d.load(ptx.Data, s.Name)
	if e != nil {
		if refusedImage(e) {
			c.Evict(ptx)
		}
		return nil, errors.Join(err, e)
	}
	return m, nil
}

// refusedImage reports whether the driver cannot use code of that compiler.
func refusedImage(err error) bool {
	return errors.Is(err, drv.NoBinaryForGPU) || errors.Is(err, drv.InvalidPTX) || errors.Is(err, drv.UnsupportedPTXVersion) || errors.Is(err, drv.InvalidImage)
}

// Load makes a module from a cubin or from PTX; name is used in messages.
func (d *Device) Load(image []byte, name string) (*Module, error) {
	if err := d.refuse("Device.Load", "it would wait for the driver: load "+name+" before the capture"); err != nil {
		return nil, err
	}
	return d.load(image, name)
}

func (d *Device) load(image []byte, name string) (*Module, error) {
	m := &Module{d: d, name: name, kernel: map[string]*Function{}}
	err := d.do(func() (err error) {
		m.handle, err = d.drv.ModuleLoad(image)
		return d.check(err, nil)
	})
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", name, err)
	}
	d.modules.mu.Lock()
	d.modules.loaded = append(d.modules.loaded, m.handle)
	d.modules.mu.Unlock()
	return m, nil
}

// unload gives all modules back, at the end.
func (ms *modules) unload(d *Device) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for _, h := range ms.loaded {
		d.drv.ModuleUnload(h)
	}
	ms.loaded, ms.known = nil, nil
}

// Function returns a kernel by its name in the program, which must be extern "C".
func (m *Module) Function(name string) (*Function, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.kernel[name]; f != nil {
		return f, nil
	}
	d := m.d
	f := &Function{m: m, name: name, dynamic: d.info.SharedPerBlock}
	err := d.do(func() (err error) {
		if f.handle, err = d.drv.ModuleFunction(m.handle, name); err != nil {
			return d.check(err, nil)
		}
		if f.maxThreads, err = d.drv.FunctionGet(f.handle, drv.FunctionMaxThreads); err != nil {
			return d.check(err, nil)
		}
		if f.shared, err = d.drv.FunctionGet(f.handle, drv.FunctionShared); err != nil {
			return d.check(err, nil)
		}
		if d.drv.Has(drv.FeatureParameters) {
			f.sizes, err = d.drv.FunctionParameters(f.handle)
			if f.sizes == nil {
				f.sizes = []int{}
			}
		}
		return d.check(err, nil)
	})
	if errors.Is(err, drv.NotFound) {
		return nil, fmt.Errorf("cuda: module %s has no kernel %s: check the name, and that it is extern \"C\": %w", m.name, name, err)
	}
	if err != nil {
		return nil, err
	}
	m.kernel[name] = f
	return f, nil
}

// Occupancy returns how many blocks with the given number of threads and bytes of dynamic shared
// memory fit on a multiprocessor at once.
func (f *Function) Occupancy(threads, shared int) (int, error) {
	d := f.m.d
	var n int
	err := d.do(func() (err error) {
		n, err = d.drv.Occupancy(f.handle, threads, shared)
		return d.check(err, nil)
	})
	return n, err
}

// String returns the name of the kernel.
func (f *Function) String() string { return f.name }
