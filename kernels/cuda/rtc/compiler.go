// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rtc

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Settings are the settings of a Compiler. The zero value is the default.
type Settings struct {
	// Cache is the folder of the cache. Default: the folder that EURYALE_CUDA_CACHE names, or one
	// in the user's cache folder.
	Cache string
	// NoCache keeps nothing on disk.
	NoCache    bool
	CacheBytes int64 // largest size of the cache in bytes; default 512 MiB
	// Strict keeps the compiler from contracting a product and a sum into one rounding.
	Strict  bool
	Workers int // number of programs that are compiled at once; default half of the processors
}

// Compiler compiles programs. It is safe for concurrent use; a program that many callers ask for at
// once is compiled once.
type Compiler struct {
	lib    *library
	disk   *Cache
	strict bool
	slots  chan struct{}

	mu     sync.Mutex
	flight map[string]*flight

	hits, misses atomic.Int64
	spent        atomic.Int64 // ns
}

// flight is one compilation that others may wait for.
type flight struct {
	done    chan struct{}
	waiting int // others, guarded by Compiler.mu
	image   *Image
	err     error
}

// Open finds and opens NVRTC. The error wraps ErrNoCompiler.
func Open(o Settings) (*Compiler, error) {
	lib, err := open()
	if err != nil {
		return nil, err
	}
	if o.Workers <= 0 {
		o.Workers = max(1, runtime.NumCPU()/2)
	}
	c := &Compiler{lib: lib, strict: o.Strict, slots: make(chan struct{}, o.Workers), flight: map[string]*flight{}}
	if !o.NoCache {
		c.disk = NewCache(o.Cache, o.CacheBytes)
	}
	return c, nil
}

// Path returns the path of the compiler's library.
func (c *Compiler) Path() string { return c.lib.path }

// Version returns the compiler's version.
func (c *Compiler) Version() (major, minor int) { return c.lib.major, c.lib.minor }

// Targets returns the architectures that the compiler supports, in ascending order.
func (c *Compiler) Targets() []Target {
	var all []Target
	for _, a := range c.lib.archs {
		all = append(all, Target{a / 10, a % 10})
	}
	return all
}

// Stats counts what a Compiler has done.
type Stats struct {
	CacheHits   int64   // number of images read from disk
	Compiled    int64   // number of images compiled
	CompileTime float64 // time of all workers together, in s
}

// Stats returns the counts since Open.
func (c *Compiler) Stats() Stats {
	return Stats{c.hits.Load(), c.misses.Load(), time.Duration(c.spent.Load()).Seconds()}
}

// Compile returns an image of a program for a device. It is read from disk if the same program was
// compiled for such a device before. If the program is wrong, the error is a *CompileError.
func (c *Compiler) Compile(s Source, t Target) (*Image, error) { return c.compile(s, t, false) }

// CompilePTX is Compile, but the image is PTX for the newest architecture that both the compiler
// and the device support. A driver that rejects the code of a newer toolkit may still accept PTX.
func (c *Compiler) CompilePTX(s Source, t Target) (*Image, error) { return c.compile(s, t, true) }

func (c *Compiler) compile(s Source, t Target, wantPTX bool) (*Image, error) {
	arch, ptx, err := c.arch(t, wantPTX)
	if err != nil {
		return nil, err
	}
	options := c.options(arch, s)
	key := c.key(s, options, ptx)
	c.mu.Lock()
	if f, ok := c.flight[key]; ok {
		f.waiting++
		c.mu.Unlock()
		<-f.done
		return f.image, f.err
	}
	f := &flight{done: make(chan struct{})}
	c.flight[key] = f
	c.mu.Unlock()
	f.image, f.err = c.produce(s, options, key, arch, ptx)
	c.mu.Lock()
	delete(c.flight, key)
	c.mu.Unlock()
	close(f.done)
	return f.image, f.err
}

// produce reads an image from the disk or makes it.
func (c *Compiler) produce(s Source, options []string, key, arch string, ptx bool) (*Image, error) {
	if data, ok := c.disk.Read(key); ok {
		c.hits.Add(1)
		return &Image{Data: data, PTX: ptx, Arch: arch, Key: key, Cached: true}, nil
	}
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	start := time.Now()
	data, log, err := c.lib.compile(s, options, ptx)
	c.spent.Add(int64(time.Since(start)))
	if err != nil {
		return nil, err
	}
	c.misses.Add(1)
	c.disk.Write(key, data)
	return &Image{Data: data, PTX: ptx, Arch: arch, Key: key, Log: log}, nil
}

// Evict removes an image from disk, because a driver rejected it.
func (c *Compiler) Evict(i *Image) { c.disk.Remove(i.Key) }

// Key returns the name under which the cache keeps the image of a program for a device.
func (c *Compiler) Key(s Source, t Target) (string, error) {
	arch, ptx, err := c.arch(t, false)
	if err != nil {
		return "", err
	}
	return c.key(s, c.options(arch, s), ptx), nil
}

// arch chooses what to compile for: the device's own architecture, else PTX of the newest that is
// not newer than the device.
func (c *Compiler) arch(t Target, ptx bool) (name string, isPTX bool, err error) {
	want := 10*t.Major + t.Minor
	if !ptx && slices.Contains(c.lib.archs, want) {
		return fmt.Sprintf("sm_%d", want), false, nil
	}
	best := 0
	for _, a := range c.lib.archs {
		if a <= want {
			best = a
		}
	}
	if best == 0 {
		return "", false, fmt.Errorf("cuda: %s compiles for capability %d.%d and newer, but the device has %s: install an older NVRTC and set EURYALE_LIBNVRTC to its path",
			c.lib, c.lib.archs[0]/10, c.lib.archs[0]%10, t)
	}
	return fmt.Sprintf("compute_%d", best), true, nil
}

// options are ours and then those of the source.
func (c *Compiler) options(arch string, s Source) []string {
	o := []string{"--gpu-architecture=" + arch, "--std=c++17", fmt.Sprintf("--fmad=%v", !c.strict)}
	if c.lib.major > 12 || c.lib.major == 12 && c.lib.minor >= 4 {
		o = append(o, "--minimal") // leaves out what we never use, and halves the time
	}
	return append(o, s.Options...)
}

// format changes when the same inputs would give other images.
const format = "euryale cubin 1"

// key is a hash of everything that an image depends on, each part with its length.
func (c *Compiler) key(s Source, options []string, ptx bool) string {
	h := sha256.New()
	part := func(p string) { fmt.Fprintf(h, "%d:%s\n", len(p), p) }
	part(format)
	part(fmt.Sprintf("nvrtc %d.%d ptx %v", c.lib.major, c.lib.minor, ptx))
	for _, o := range options {
		part(o)
	}
	part(s.name())
	part(s.Text)
	names, texts := s.headers()
	for i := range names {
		part(names[i])
		part(texts[i])
	}
	return hex.EncodeToString(h.Sum(nil))
}
