// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// The error about a folder names files with the endings that are wanted, or says that there are none.
func TestOpenFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.csv", "a.CSV", "x.txt", ".c.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for ending, want := range map[string]string{".csv": "such as " + filepath.Join(dir, "a.CSV") + ", " + filepath.Join(dir, "b.csv"), ".h5": "without any file that ends in .h5: name a file"} {
		if _, err := foreign.Open(dir, ending); err == nil || !strings.HasSuffix(err.Error(), want) || !foreign.IsOther(err) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}
