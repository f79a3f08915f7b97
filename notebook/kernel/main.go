// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command kernel builds a Jupyter kernel for Go that has this module compiled in: the released
// gophernotes, with a few lines changed so that it runs on today's Go and asks our files in
// overlay to evaluate cells, and with bindings of all public packages.
//
//	go run ./notebook/kernel -o bin/euryale-kernel
//	go run ./notebook/kernel -o bin/euryale-kernel -install run/jupyter
//	go run ./notebook/kernel -page -o kernel.wasm
//
// It needs no Jupyter. The kernel is built in bin/kernel-build, where the go command finds most of it
// done when it is built again. The modules that it takes and their checksums stand in overlay/go.mod
// and overlay/go.sum.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/euryale-dev/euryale/internal/runlock"
)

func main() {
	log.SetFlags(0)
	out := flag.String("o", "bin/euryale-kernel", "the kernel to write")
	page := flag.Bool("page", false, "compile the kernel to WebAssembly, for notebooks in pages (make lab)")
	install := flag.String("install", "", "a Jupyter data folder to install the kernel's description in, such as ~/.local/share/jupyter")
	flag.Parse()
	if err := run(*out, *install, *page); err != nil {
		log.Fatalf("kernel: %v", err)
	}
}

func run(out, install string, page bool) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return fmt.Errorf("-o %s is a folder: name the file of the kernel, such as %s", out, filepath.Join(out, "euryale-kernel"))
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	if page {
		buildEnvironment = append(buildEnvironment, "GOOS=js", "GOARCH=wasm")
	}
	told, err := build(root, out, os.Stderr, "build")
	if err != nil {
		return err
	}
	fmt.Println(told)
	if install != "" {
		return installSpec(install, out)
	}
	return nil
}

// patterns are the packages that cells may import. The interpreter knows the standard library of some years
// ago; of the packages that cells import most it gets today's, and math/rand/v2, which it lacks.
var patterns = []string{
	"github.com/euryale-dev/euryale/...", "gorgonia.org/gorgonia", "gorgonia.org/tensor",
	"gonum.org/v1/gonum/floats", "gonum.org/v1/gonum/mat", "gonum.org/v1/gonum/stat",
	"bufio", "bytes", "context", "encoding/binary", "encoding/csv", "encoding/json", "errors", "fmt", "io", "io/fs", "log", "math",
	"math/big", "math/bits", "math/cmplx", "math/rand", "math/rand/v2", "os", "path", "path/filepath", "regexp", "sort", "strconv",
	"strings", "sync", "sync/atomic", "text/tabwriter", "text/template", "time", "unicode", "unicode/utf8",
}

// build builds the kernel by a verb of the go command, build or test -c, and says what it is. A build that goes on in the same
// checkout is waited for. The screen shows which part is under way and how many packages are compiled.
func build(root, out string, screen io.Writer, verb ...string) (told string, err error) {
	dir := filepath.Join(root, "bin", "kernel-build")
	if slices.Contains(buildEnvironment, "GOOS=js") { // has other bindings
		dir += "-page"
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := wait(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	all, err := assemble(root)
	if err != nil {
		return "", err
	}
	isBinding := func(name string) bool { return strings.HasPrefix(name, bindingPrefix) }
	if err := all.write(dir, isBinding); err != nil {
		return "", err
	}
	fmt.Fprintln(screen, "reading the packages that cells may import: ten seconds, and some minutes where their modules have to be fetched and compiled first")
	packages, err := loadPackages(dir, patterns...)
	if err != nil {
		return "", err
	}
	bound, names, err := bindings(packages)
	if err != nil {
		return "", err
	}
	maps.Copy(bound, all)
	for _, name := range []string{"go.mod", "go.sum"} { // as the go command completed them
		delete(bound, name)
	}
	if err := bound.write(dir, func(name string) bool { return name == "go.mod" || name == "go.sum" }); err != nil {
		return "", err
	}
	if err := compile(dir, screen, append(verb, "-v", "-ldflags=-s -w", "-o", out, ".")); err != nil {
		return "", err
	}
	size, err := os.Stat(out)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %d names of %d packages, %.0f MB", out, names, len(packages), float64(size.Size())/1e6), nil
}

// wait locks the folder of the build as soon as nobody else holds it.
func wait(dir string) (*runlock.Lock, error) {
	for {
		lock, _, err := runlock.Acquire(dir, "go run ./notebook/kernel")
		var held *runlock.Held
		if !errors.As(err, &held) || held.Elsewhere {
			return lock, err
		}
		time.Sleep(200 * time.Millisecond)
	}
}
