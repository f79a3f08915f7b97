// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rtc

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Prelude defines what expressions in C may use but NVRTC does not know without headers. Programs
// that hold such expressions, for example those of operations in package autodiff, must begin with
// it.
const Prelude = `#ifndef INFINITY
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
#endif
#ifndef NAN
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#endif
`

// Source is a program in CUDA C.
type Source struct {
	Name    string            // file name that messages show; kernel.cu if empty
	Text    string            // text of the program, whose kernels are extern "C"
	Headers map[string]string // texts that the program includes, by name
	Options []string          // options of NVRTC that follow those of this package
	// PTX is the program compiled in advance, for machines without NVRTC. It is nil if there is
	// none.
	PTX []byte
}

func (s Source) name() string {
	if s.Name == "" {
		return "kernel.cu"
	}
	return s.Name
}

// headers returns names and texts in one order.
func (s Source) headers() (names, texts []string) {
	names = slices.Sorted(maps.Keys(s.Headers))
	for _, n := range names {
		texts = append(texts, s.Headers[n])
	}
	return names, texts
}

// Target is the compute capability of a device.
type Target struct{ Major, Minor int }

// String returns the capability as NVIDIA writes it, such as 9.0.
func (t Target) String() string { return fmt.Sprintf("%d.%d", t.Major, t.Minor) }

// Image is a compiled program. It is shared, so Data must not be changed.
type Image struct {
	Data []byte
	// PTX reports whether Data is text that the driver compiles, rather than code for one
	// architecture.
	PTX  bool
	Arch string // architecture of the image, such as sm_90 or compute_90
	Key  string // name of the image in the cache
	// Log holds the compiler's warnings. It is empty if the image came from disk.
	Log string
	// Cached reports whether the image came from disk.
	Cached bool
}

// CompileError says that a program does not compile. Its text shows the compiler's messages and the
// lines of the program that they name.
type CompileError struct {
	Result   string // the compiler's name for the failure
	Log      string // messages of the compiler
	Source   Source
	Options  []string
	Compiler string // version and file of the compiler
}

func (e *CompileError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cuda: %s does not compile with %s: %s", e.Source.name(), e.Compiler, e.Result)
	if e.Log != "" {
		b.WriteString("\n" + e.Log)
	}
	fmt.Fprintf(&b, "\noptions: %s", strings.Join(e.Options, " "))
	if lines := e.lines(); lines != "" {
		b.WriteString("\nThe program says:\n" + lines)
	}
	return b.String()
}

// lines returns the numbered lines around the first ten that the messages name, as "name(12)" or
// "name:12:".
func (e *CompileError) lines() string {
	const around, most = 2, 10
	named := 0
	text := strings.Split(e.Source.Text, "\n")
	show := make([]bool, len(text)+1)
	for _, line := range strings.Split(e.Log, "\n") {
		rest, ok := strings.CutPrefix(line, e.Source.name())
		var n int
		if !ok || len(rest) < 2 {
			continue
		}
		if _, err := fmt.Sscanf(rest[1:], "%d", &n); err != nil {
			continue
		}
		if named++; named > most {
			break
		}
		for i := max(1, n-around); i <= min(len(text), n+around); i++ {
			show[i] = true
		}
	}
	var b strings.Builder
	for i, s := range show {
		if s {
			fmt.Fprintf(&b, "%5d | %s\n", i, text[i-1])
		}
	}
	return b.String()
}
