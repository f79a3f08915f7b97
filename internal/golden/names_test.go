// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// testFile is a file of tests in a package whose tests read the reference.
type testFile struct {
	name string // below the top of the repository
	text []byte
}

// readingFiles returns the files of tests of those packages whose tests read the reference.
func readingFiles(t *testing.T) (files []testFile) {
	t.Helper()
	top := moduleRoot(t)
	reading := map[string]bool{}
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); d.IsDir() {
			if name != top && (strings.HasPrefix(base, ".") || base == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(top, name)
		if rel = filepath.ToSlash(rel); err != nil || !strings.HasSuffix(name, "_test.go") || strings.HasPrefix(rel, "internal/golden/") {
			return err
		}
		b, err := os.ReadFile(name)
		if bytes.Contains(b, []byte("/internal/golden")) {
			reading[path.Dir(rel)] = true
		}
		files = append(files, testFile{rel, b})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(f testFile) bool { return !reading[path.Dir(f.name)] })
}

// set is what belongs to our set alone: names of its members, and the files and folders that have them in their names.
type set struct {
	names, files map[string]bool
}

// ourSet finds what of our set changes change.
func ourSet(t *testing.T, changes []another) set {
	t.Helper()
	s := set{map[string]bool{}, map[string]bool{}}
	for _, c := range changes {
		if c.from == "" {
			continue
		}
		re := regexp.MustCompile(c.from)
		topic, _, _ := strings.Cut(c.folder, "/")
		err := fs.WalkDir(find(t, topic).files, c.folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil || name == c.folder {
				return err
			}
			base := path.Base(name)
			if m := re.FindStringSubmatch(base); m != nil {
				own := m[0]
				if strings.HasPrefix(c.from, part("")[:9]) {
					own = m[2]
				}
				s.names[own], s.files[base], s.files[Base(base)] = true, true, true
				if first, _, more := strings.Cut(own, "_"); more && len(first) > 2 && strings.ContainsAny(first, "0123456789") {
					s.names[first] = true // such as gr02
				}
			}
			return nil
		})
		if err != nil {
			t.Logf("%v", err)
		}
	}
	return s
}

// in returns the names of a set in a text: a path with a file or a folder of the set, or a name of two letters or more between
// _, -, ., / and the ends.
func (s set) in(text string) (found []string) {
	for element := range strings.SplitSeq(text, "/") {
		if s.files[element] && len(element) > 2 {
			found = append(found, element)
		}
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("_./- ", r) })
	for i := range words {
		for k := i + 1; k <= min(len(words), i+3); k++ {
			for _, between := range []string{"_", "-"} {
				if name := strings.Join(words[i:k], between); len(name) > 1 && s.names[name] && strings.Contains(text, name) && !slices.Contains(found, name) {
					found = append(found, name)
				}
			}
		}
	}
	return found
}

// allowed lists the files and folders of tests that may name members of our set, and why.
var allowed = map[string]string{
	"infer/":                           "posteriors are found by the names that their files state, which are those of models written in Go",
	"models/spectra/bench_test.go":     "the arms of DESI itself, with its wavelengths: no file is read",
	"models/spectra/ccf/bench_test.go": "the arms of DESI itself, with its wavelengths: no file is read",
	"models/spectra/ccf/find_test.go":  "spectra that bench_test.go makes for those arms",
	"data/rvspecfit/example_test.go":   "the example writes a library of DESI",
}

// Tests name no file of our set, as another set may take its place: they walk what they find.
func TestNoNamesOfOurSet(t *testing.T) {
	ours := ourSet(t, slices.Concat(others, arms))
	used := map[string]bool{}
	for _, f := range readingFiles(t) {
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, f.name, f.text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(lit.Value)
			for _, name := range ours.in(text) {
				if place := exception(f.name); place != "" {
					used[place] = true
				} else {
					t.Errorf("%s: %q names %s of one set of the reference: walk what golden.Glob finds, or make the file in the test", positions.Position(lit.Pos()), text, name)
				}
			}
			return true
		})
	}
	for place, why := range allowed {
		if !used[place] {
			t.Errorf("%s names no member of our set any more: take it off the list (%s)", place, why)
		}
	}
}

// exception returns the entry of allowed for a file, or "".
func exception(file string) string {
	for place := range allowed {
		if strings.HasPrefix(file, place) {
			return place
		}
	}
	return ""
}
