// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// filesNamed is the largest number of files that an error about a folder names.
const filesNamed = 3

// folderError says that a folder was named in place of a file, and which of its files could be meant: those with one of the endings, or
// all if there are none.
func folderError(name string, endings []string) error {
	what := "is a folder: name a file"
	if found := inside(name, endings); len(found) > 0 {
		what = "is a folder: name a file in it, such as " + strings.Join(found[:min(len(found), filesNamed)], ", ")
		if more := len(found) - filesNamed; more > 0 {
			what += fmt.Sprintf(" (and %d more)", more)
		}
	} else if len(endings) > 0 {
		what = "is a folder without any file that ends in " + strings.Join(endings, ", ") + ": name a file"
	}
	return &fs.PathError{Op: "open", Path: name, Err: otherKind(what)}
}

// inside returns the paths of the files in a folder that have one of the endings, in the order of their names. Hidden files do not count.
func inside(folder string, endings []string) (found []string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		fits := func(ending string) bool { return strings.HasSuffix(strings.ToLower(e.Name()), ending) }
		if strings.HasPrefix(e.Name(), ".") || len(endings) > 0 && !slices.ContainsFunc(endings, fits) {
			continue
		}
		if st, err := os.Stat(filepath.Join(folder, e.Name())); err == nil && st.Mode().IsRegular() {
			found = append(found, filepath.Join(folder, e.Name()))
		}
	}
	return found
}
