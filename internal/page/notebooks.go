// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/notebook/cells"
)

// extension is the name of our extension of JupyterLite, which extension.js gives itself too.
const extension = "euryale-kernel"

// writeNotebooks fills a folder with JupyterLite, our kernel and the example notebooks.
func writeNotebooks(dir, wheel string) error {
	if err := unpackLite(dir, wheel); err != nil {
		return err
	}
	if err := addExtension(filepath.Join(dir, "jupyter-lite.json")); err != nil {
		return err
	}
	for name, text := range map[string]string{ // that the pages ask for, and do without
		"build/schemas/all_federated.json": "[]", "api/translations/all.json": `{"data": {"en": {"displayName": "English", "nativeName": "English"}}, "message": ""}`,
		"api/translations/en.json": `{"data": {}, "message": ""}`,
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(file, []byte(text)); err != nil {
			return err
		}
	}
	if err := exampleNotebooks(dir); err != nil {
		return err
	}
	support, err := wasmSupport()
	if err != nil {
		return err
	}
	own := filepath.Join(dir, "extensions", extension)
	if err := copies(own, map[string]string{
		"notebook/lab/extension.js": "extension.js", "notebook/lab/worker.js": "worker.js", "notebook/lab/logo.svg": "logo.svg",
		"app/drop/files.js": "files.js", unpacker: "xz.js", support: "wasm_exec.js",
	}); err != nil {
		return err
	}
	return packed(filepath.Join(own, "kernel.wasm.xz"), nil, "run", "./notebook/kernel", "-page")
}

// unpackLite unpacks the pages that the Python package jupyterlite-core holds, but for what only those read who look for faults in them.
func unpackLite(dir, wheel string) error {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return fmt.Errorf("%s: %w: give the wheel that \"pip download --no-deps jupyterlite-core\" fetches", wheel, err)
	}
	defer z.Close()
	for _, f := range z.File {
		if ok, _ := filepath.Match("jupyterlite_core/jupyterlite-app-*.tgz", f.Name); !ok {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return err
		}
		return errors.Join(untar(dir, r), r.Close())
	}
	return fmt.Errorf("%s holds no jupyterlite_core/jupyterlite-app-*.tgz: give the wheel of jupyterlite-core", wheel)
}

func untar(dir string, r io.Reader) error {
	unpacked, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	for t := tar.NewReader(unpacked); ; {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(h.Name, "package/")
		if h.Typeflag != tar.TypeReg || strings.HasSuffix(name, ".map") {
			continue
		}
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the pages of JupyterLite have a file %q outside their folder", h.Name)
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := atomicfile.Write(file, true, func(w io.Writer) error {
			_, err := io.Copy(w, t)
			return err
		}); err != nil {
			return err
		}
	}
}

// addExtension tells JupyterLite of our extension and that notebooks are in Go.
func addExtension(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var config map[string]any
	if err := json.Unmarshal(b, &config); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	page, ok := config["jupyter-config-data"].(map[string]any)
	if !ok {
		return fmt.Errorf("%s has no jupyter-config-data: give another version of jupyterlite-core", file)
	}
	// The application is a variable of the page, so that tests and people in the browser's console reach it.
	page["appName"], page["defaultKernelName"], page["exposeAppInBrowser"], page["contentsAllJsonFile"] = "Euryale", "euryale", true, "all.json"
	page["federated_extensions"] = []any{map[string]any{"name": extension, "load": "extension.js", "extension": "./extension"}}
	if b, err = json.MarshalIndent(config, "", "  "); err != nil {
		return err
	}
	return atomicfile.WriteBytes(file, b)
}

// listed is an entry of the list from which JupyterLite knows which files a server has.
type listed struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Type     string `json:"type"`
	Format   any    `json:"format"`
	Mimetype any    `json:"mimetype"`
	Size     int    `json:"size,omitempty"`
	Created  string `json:"created"`
	Modified string `json:"last_modified"`
	Writable bool   `json:"writable"`
	Content  any    `json:"content"`
}

// exampleNotebooks writes the example notebooks and their list.
func exampleNotebooks(dir string) error {
	names, err := filepath.Glob("examples/notebooks/*.md")
	if err != nil || len(names) == 0 {
		return errors.Join(err, errors.New("there are no examples/notebooks: run this from the top of the repository"))
	}
	if err := os.MkdirAll(filepath.Join(dir, "files"), 0o755); err != nil {
		return err
	}
	now := time.Now().UTC().Format(time.RFC3339)
	all := listed{Type: "directory", Format: "json", Created: now, Modified: now, Writable: true}
	var content []listed
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		book, err := cells.Parse(name, text)
		if err != nil {
			return err
		}
		b, err := book.JSON()
		if err != nil {
			return err
		}
		own := strings.TrimSuffix(filepath.Base(name), ".md") + ".ipynb"
		if err := atomicfile.WriteBytes(filepath.Join(dir, "files", own), bytes.TrimSpace(b)); err != nil {
			return err
		}
		content = append(content, listed{Name: own, Path: own, Type: "notebook", Format: "json", Size: len(b), Created: now, Modified: now, Writable: true})
	}
	all.Content = content
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "api", "contents"), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, "api", "contents", "all.json"), b)
}
