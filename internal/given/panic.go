// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package given

import (
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// PanicError is a panic that was converted to an error, or that is carried from one goroutine to
// another.
type PanicError struct {
	Value any
	Stack string
}

// Error says what panicked and where. The stack is left out.
func (e *PanicError) Error() string {
	if c := e.Culprit(); c.Func != "" {
		return fmt.Sprintf("panicked: %v (in %s, %s)", e.Value, c.Func, c.Place)
	}
	return fmt.Sprintf("panicked: %v", e.Value)
}

// Report asks for a report to the authors of what panicked, and holds what they need.
func (e *PanicError) Report() string {
	if c := e.Culprit(); c.Func != "" && !c.Own {
		return fmt.Sprintf("The package %s is not a part of Euryale. Look for the mistake there, or report it to its authors with the command line and this:\n%s", c.Package, e.Stack)
	}
	return "This is a bug in Euryale. Please report it with the command line and this:\n" + e.Stack
}

// Recovered makes an error of the value that recover returned. It must be called in the deferred function
// itself, where the stack is still that of the panic.
func Recovered(value any) *PanicError {
	if e, ok := value.(*PanicError); ok {
		return e
	}
	return &PanicError{value, string(debug.Stack())}
}

// Caught, when deferred, converts a panic to an error of its function.
func Caught(err *error) {
	if v := recover(); v != nil {
		*err = Recovered(v)
	}
}

// CaughtAs, deferred, makes a panic the error of its function, in the form that wrap gives
// the PanicError.
func CaughtAs(err *error, wrap func(error) error) {
	if v := recover(); v != nil {
		*err = wrap(Recovered(v))
	}
}

// Frame is a function on the stack of a panic.
type Frame struct {
	Func    string // with the path of its package, such as "example.com/lab/relax.Mean"
	Package string
	Place   string // file and line
	Own     bool   // whether it is part of Euryale or of a module that Euryale needs
}

// module is the path of Euryale's module.
const module = "github.com/euryale-dev/euryale"

// Culprit returns the function whose mistake the panic is: the innermost one that Euryale did not bring with
// it, such as a user's model, or else the one that panicked. It is zero if the stack is unknown.
func (e *PanicError) Culprit() Frame {
	frames := framesOf(e.Stack)
	for i, f := range frames {
		if strings.HasPrefix(f.Func, module+"/cli.Run") || f.Func == "main.main" {
			frames = frames[:i] // what lies beyond only started the command
			break
		}
	}
	if i := slices.IndexFunc(frames, func(f Frame) bool { return !f.Own }); i >= 0 {
		return frames[i]
	}
	if i := slices.IndexFunc(frames, func(f Frame) bool { return !standard(f.Package) }); i >= 0 {
		return frames[i]
	}
	return Frame{}
}

// framesOf reads the functions below the first panic from a stack as package debug prints it, innermost first.
func framesOf(stack string) (out []Frame) {
	lines := strings.Split(stack, "\n")
	for i := 0; i+1 < len(lines); i++ {
		name, place := lines[i], lines[i+1]
		if !strings.HasPrefix(place, "\t") || strings.HasPrefix(name, "\t") {
			continue
		}
		if strings.HasPrefix(name, "panic(") {
			out = nil // of the functions above it, some caught a panic, and some panicked again
			continue
		}
		if strings.HasPrefix(name, "created by ") {
			break
		}
		if at := strings.LastIndex(name, "("); at > 0 {
			name = name[:at]
		}
		file, _, _ := strings.Cut(strings.TrimSpace(place), " +0x")
		path := packageOf(name)
		out = append(out, Frame{Func: name, Package: path, Place: filepath.Base(file), Own: owned(path)})
	}
	return out
}

// packageOf returns the path of a function's package. A dot in its last element is written %2e.
func packageOf(name string) string {
	slash := strings.LastIndex(name, "/") + 1
	last, _, _ := strings.Cut(name[slash:], ".")
	return strings.ReplaceAll(name[:slash]+last, "%2e", ".")
}

// standard reports whether a package is one of Go's own, whose path has no domain.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return path != "main" && !strings.Contains(first, ".")
}

// owned reports whether a package is a part of Euryale, of Go or of a module that Euryale needs.
func owned(path string) bool {
	under := func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") }
	return standard(path) || under(module) || slices.ContainsFunc(dependencies, under)
}

// dependencies are the modules that Euryale needs, as in go.mod, without versions.
var dependencies = strings.Fields(`
	codeberg.org/go-fonts codeberg.org/go-latex codeberg.org/go-pdf git.sr.ht/~sbinet/gg github.com/KimMachineGun/automemlimit
	github.com/ajstarks/svgo github.com/andybalholm/brotli github.com/apache/arrow github.com/awalterschulze/gographviz github.com/chewxy github.com/cpuguy83
	github.com/ebitengine/purego github.com/gofrs/flock github.com/gogo/protobuf github.com/golang github.com/google github.com/inconshreveable/mousetrap
	github.com/klauspost/compress github.com/leesper/go_rng github.com/parquet-go github.com/pbnjay/memory github.com/pierrec/lz4 github.com/pkg/errors
	github.com/richardlehane github.com/russross/blackfriday github.com/spf13
	github.com/tiendc/go-deepcopy github.com/twpayne/go-geom github.com/vbauerster/mpb github.com/xtgo/set github.com/xuri go.yaml.in/yaml go4.org/unsafe golang.org/x google.golang.org/protobuf gonum.org/v1 gopkg.in/yaml.v3 gorgonia.org
	pgregory.net/rapid`)
