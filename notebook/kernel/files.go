// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/runlock"
)

// files is what a folder holds, by its path in it.
type files map[string][]byte

// add adds the regular files of a folder that match a pattern.
func (f files) add(to, dir, pattern string) error {
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return err
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if info.IsDir() {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f[filepath.Join(to, filepath.Base(name))] = text
	}
	return nil
}

// addModule adds the source files of a module, but tests, and its go.mod.
func (f files) addModule(to, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(dir, path)
		if err != nil || relErr != nil {
			return errors.Join(err, relErr)
		}
		kind := filepath.Ext(name)
		if d.IsDir() || kind != ".go" && kind != ".s" && name != "go.mod" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		f[filepath.Join(to, name)] = text
		return err
	})
}

// write makes a folder hold these files. Files that are there already stay as they are, so that
// nothing is built again; others are removed if keep does not say otherwise.
func (f files) write(dir string, keep func(name string) bool) error {
	for name, text := range f {
		file := filepath.Join(dir, name)
		if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, text) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(file, text); err != nil {
			return err
		}
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(dir, path)
		if err != nil || relErr != nil || d.IsDir() {
			return errors.Join(err, relErr)
		}
		if _, ours := f[name]; ours || name == runlock.Name || keep(name) {
			return nil
		}
		return os.Remove(path)
	})
}
