// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command page writes pages that need no server of ours: the page on which files are dropped, and notebooks. The program, or the kernel, is WebAssembly,
// and any web server can serve the files.
//
//	go run ./internal/page FOLDER
//	go run ./internal/page -notebooks JUPYTERLITE.whl FOLDER
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

func main() {
	notebooks := flag.String("notebooks", "", "the package jupyterlite-core of Python, to make notebooks from")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/page [-notebooks JUPYTERLITE.whl] FOLDER")
		os.Exit(64)
	}
	make := write
	if *notebooks != "" {
		make = func(dir string) error { return writeNotebooks(dir, *notebooks) }
	}
	if err := make(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// unpacker is a library that unpacks what xz packed.
const unpacker = "app/drop/xz-decompress.min.js"

// loops are the packages that numbers are computed in. In others no function is copied to where it is called, which makes the program smaller.
var loops = []string{"./kernels/...", "./autodiff/internal/cpu/...", "./sim/...", "./optim/...", "./models/spectra/...", "gonum.org/v1/gonum/...", "math/...", "runtime/...", "internal/..."}

// write fills a folder, from the top of the repository.
func write(dir string) error {
	support, err := wasmSupport()
	if err != nil {
		return err
	}
	if err := copies(dir, map[string]string{
		"app/drop/page.html": "index.html", "app/drop/page.css": "page.css", "app/drop/page.js": "page.js",
		"app/drop/worker.js": "worker.js", "app/drop/files.js": "files.js", unpacker: "xz.js", support: "wasm_exec.js",
	}); err != nil {
		return err
	}
	args := []string{"build", "-tags=page", "-trimpath", "-ldflags=-s -w", "-gcflags=all=-l"}
	for _, p := range loops {
		args = append(args, "-gcflags="+p+"=")
	}
	return packed(filepath.Join(dir, "euryale.wasm.xz"), []string{"GOOS=js", "GOARCH=wasm"}, append(args, "./cmd/euryale")...)
}

// wasmSupport is the file by which Go's programs run in pages.
func wasmSupport() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	return filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"), err
}

// copies copies files into a folder, each under a name of its own.
func copies(dir string, files map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for from, to := range files {
		b, err := os.ReadFile(from)
		if err == nil {
			err = atomicfile.WriteBytes(filepath.Join(dir, to), b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// packed compiles a program by the go command, whose last argument is the package, and packs it by xz: a third smaller than by gzip.
func packed(name string, environment []string, args ...string) error {
	dir, err := os.MkdirTemp("", "euryale-page")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plain := filepath.Join(dir, "program.wasm")
	last := len(args) - 1
	if args[0] == "run" { // a program that compiles another
		args = append(args, "-o", plain)
	} else {
		mod, err := withoutLetters(dir)
		if err != nil {
			return err
		}
		args = slices.Insert(args, last, "-modfile", mod, "-o", plain)
	}
	compile := exec.Command("go", args...)
	compile.Env = append(os.Environ(), environment...)
	if out, err := compile.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return atomicfile.Write(name, true, func(w io.Writer) error {
		// The decoder of the page knows dictionaries up to 64 MiB. Instructions of WebAssembly are not aligned, and the byte before says much of the next.
		xz := exec.Command("xz", "--stdout", "--check=crc32", "--lzma2=preset=9e,dict=64MiB,lc=4,lp=0,pb=0", plain)
		var faults strings.Builder
		xz.Stdout, xz.Stderr = w, &faults
		if err := xz.Run(); err != nil {
			return fmt.Errorf("xz, which packs the program: %w: install it (xz-utils) if it is not there\n%s", err, faults.String())
		}
		return nil
	})
}
