// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rtc

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Prelude defines what expressions in C may use and NVRTC does not know without headers. It is to stand
// before programs that hold such expressions, as those of operations in package autodiff.
const Prelude = `#ifndef INFINITY
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
#endif
#ifndef NAN
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#endif
`

// Source is a program in CUDA C.
type Source struct {
	Name    string            // file name for messages; kernel.cu if empty
	Text    string            // the program; its kernels are extern "C"
	Headers map[string]string // texts that the program includes by these names
	Options []string          // further options of NVRTC, after ours
	PTX     []byte            // the program compiled beforehand, for machines without NVRTC; nil if there is none
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

// Image is a compiled program. It is shared: nobody may change Data.
type Image struct {
	Data   []byte
	PTX    bool   // text that the driver compiles, instead of code for one architecture
	Arch   string // what it was compiled for, such as sm_90 or compute_90
	Key    string // its name in the cache
	Log    string // warnings; empty if the image came from the disk
	Cached bool   // it came from the disk
}

// CompileError says that a program does not compile. Its text shows the compiler's messages and the
// lines of the program that they name.
type CompileError struct {
	Result   string // the compiler's name of the failure
	Log      string // its messages
	Source   Source
	Options  []string
	Compiler string // version and file
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
