// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command page writes the page on which files are dropped: the program as WebAssembly and what shows its answers, to be served as
// plain files by any server.
//
//	go run ./internal/page FOLDER
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/page FOLDER")
		os.Exit(64)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// write fills a folder, from the top of the repository.
func write(dir string) error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for from, to := range map[string]string{
		"app/drop/page.html": "index.html", "app/drop/page.css": "page.css", "app/drop/page.js": "page.js",
		"app/drop/worker.js": "worker.js", "app/drop/files.js": "files.js",
		filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"): "wasm_exec.js",
	} {
		b, err := os.ReadFile(from)
		if err == nil {
			err = atomicfile.WriteBytes(filepath.Join(dir, to), b)
		}
		if err != nil {
			return err
		}
	}
	return program(filepath.Join(dir, "euryale.wasm.gz"))
}

// program compiles the program and packs it.
func program(name string) error {
	dir, err := os.MkdirTemp("", "euryale-page")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plain := filepath.Join(dir, "euryale.wasm")
	compile := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", plain, "./cmd/euryale")
	compile.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := compile.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	from, err := os.Open(plain)
	if err != nil {
		return err
	}
	defer from.Close()
	return atomicfile.Write(name, true, func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		_, err = io.Copy(z, from)
		return errors.Join(err, z.Close())
	})
}
