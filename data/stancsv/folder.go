// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stancsv

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// WriteFolder writes one file per chain, chain-1.csv and so on, into a new folder, which has a
// temporary name until all files are complete. It refuses an existing folder or, with overwrite,
// replaces it if it contains only such files.
func WriteFolder(name string, chains []*Chain, overwrite bool) error {
	err := atomicfile.Folder(name, overwrite, onlyChains, func(dir string) error {
		for i, c := range chains {
			file := filepath.Join(dir, fmt.Sprintf("chain-%d.csv", i+1))
			if err := atomicfile.Write(file, false, func(w io.Writer) error { return c.Write(w) }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("stancsv: %w", err)
	}
	return nil
}

func onlyChains(name string) bool {
	entries, err := os.ReadDir(name)
	return err == nil && !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		ok, _ := filepath.Match("chain-*.csv", e.Name())
		return !ok || e.IsDir()
	})
}

// OpenFolder reads the files chain-1.csv, chain-2.csv, ... of a folder in the order of their
// numbers. If there are no such files it returns none.
func OpenFolder(name string) ([]*Chain, error) {
	files, err := Files(name)
	if err != nil {
		return nil, err
	}
	var out []*Chain
	for _, f := range files {
		c, err := Open(f)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// Files lists the files chain-*.csv of a folder in the order of their numbers.
func Files(name string) ([]string, error) {
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if ok, _ := filepath.Match("chain-*.csv", e.Name()); ok && !e.IsDir() {
			out = append(out, filepath.Join(name, e.Name()))
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return len(a) - len(b) }) // chain-10 after chain-9
	return out, nil
}
