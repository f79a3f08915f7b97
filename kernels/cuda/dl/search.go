// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dl

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Spec lists the file names that a library may have.
type Spec struct {
	// Name is a short name, such as CUDA. EURYALE_LIB followed by the name is the environment
	// variable that overrides the search.
	Name    string
	Sonames []string // file names on Linux, newest first
	DLLs    []string // file names on Windows, newest first
}

// folders hold NVIDIA's libraries on Linux besides the folders that the loader searches by itself;
// each is a pattern of filepath.Match.
var folders = []string{
	"/usr/local/nvidia/lib64",
	"/usr/local/cuda/lib64",
	"/usr/local/cuda/targets/*/lib",
	"/usr/lib/wsl/lib",
}

// Variable returns the name of the environment variable that overrides the search for a library.
func Variable(name string) string { return "EURYALE_LIB" + strings.ToUpper(name) }

// candidates lists what Open tries, in this order: the file that the environment names, and nothing
// else if it names one; the bare names, which the loader resolves; the folders of toolkits and
// containers; the folders of Python wheels in the active environment. Files that do not exist are
// misses.
func (s Spec) candidates() (files []string, misses []Attempt) {
	if path := os.Getenv(Variable(s.Name)); path != "" {
		return []string{path}, nil
	}
	if runtime.GOOS == "windows" {
		return s.within(s.DLLs, windowsFolders())
	}
	where := append([]string{}, folders...)
	if env := os.Getenv("VIRTUAL_ENV"); env != "" {
		where = append(where, filepath.Join(env, "lib", "python*", "site-packages", "nvidia", "*", "lib"))
	}
	if env := os.Getenv("CONDA_PREFIX"); env != "" {
		where = append(where, filepath.Join(env, "lib"))
	}
	return s.within(s.Sonames, where)
}

// within returns the bare names, and then the files of these names that exist in folders.
func (s Spec) within(names, where []string) (files []string, misses []Attempt) {
	files = append(files, names...)
	for _, folder := range where {
		for _, name := range names {
			pattern := filepath.Join(folder, name)
			found, err := filepath.Glob(pattern)
			if err != nil || len(found) == 0 {
				misses = append(misses, Attempt{pattern, "no such file"})
			}
			files = append(files, found...)
		}
	}
	return files, misses
}

// windowsFolders are the folders of the toolkit and of the Python wheels.
func windowsFolders() []string {
	var where []string
	if root := os.Getenv("CUDA_PATH"); root != "" {
		where = append(where, filepath.Join(root, "bin"), filepath.Join(root, "bin", "x64"))
	}
	if env := os.Getenv("VIRTUAL_ENV"); env != "" {
		where = append(where, filepath.Join(env, "Lib", "site-packages", "nvidia", "*", "bin"))
	}
	return where
}
