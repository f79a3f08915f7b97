// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var codeSpan = regexp.MustCompile("`([^`]+)`")

// architecture returns a section of docs/ARCHITECTURE.md, and the cells of its table without the heading.
func architecture(t *testing.T, section string) (text string, rows [][]string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "\n## "+section+"\n")
	if !ok {
		t.Fatalf("docs/ARCHITECTURE.md has no section %q", section)
	}
	text, _, _ = strings.Cut(rest, "\n## ")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "|") {
			rows = append(rows, strings.Split(strings.Trim(line, "|"), "|"))
		}
	}
	if len(rows) < 3 {
		t.Fatalf("section %q of docs/ARCHITECTURE.md has no table", section)
	}
	return text, rows[2:]
}

// spans lists what stands in back quotes.
func spans(text string) (all []string) {
	for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

func TestArchitectureNamesEveryPackage(t *testing.T) {
	exported, public := map[string][]string{}, map[string]bool{}
	for _, src := range sources(t) {
		dir := path.Dir(src.path)
		hidden := src.ast.Name.Name == "main" || strings.Contains("/"+dir+"/", "/internal/") || under(src.path, []string{"cluster/", "examples/"})
		public[dir] = public[dir] || !hidden
		for _, d := range src.ast.Decls {
			if d, ok := d.(*ast.GenDecl); ok {
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
						exported[dir] = append(exported[dir], s.Name.Name)
					}
				}
			}
		}
		for _, d := range src.ast.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.IsExported() {
				exported[dir] = append(exported[dir], d.Name.Name)
			}
		}
	}
	named := map[string]bool{}
	_, rows := architecture(t, "Packages")
	for _, row := range rows {
		dirs := spans(row[0])
		for _, dir := range dirs {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir))); err != nil {
				t.Errorf("docs/ARCHITECTURE.md: %v", err)
			}
			named[dir] = true
		}
		for name := range strings.SplitSeq(row[1], ",") {
			if name = strings.TrimSpace(name); name != "-" && !slices.ContainsFunc(dirs, func(dir string) bool { return slices.Contains(exported[dir], name) }) {
				t.Errorf("docs/ARCHITECTURE.md: %v has no %s", dirs, name)
			}
		}
	}
	for dir, is := range public {
		if is && !named[dir] {
			t.Errorf("docs/ARCHITECTURE.md does not name the package %s", dir)
		}
	}
}

func TestArchitectureSaysWhoImportsWhom(t *testing.T) {
	text, rows := architecture(t, "Who imports whom")
	if len(rows) != len(allowed) {
		t.Errorf("docs/ARCHITECTURE.md says what %d folders import: want %d", len(rows), len(allowed))
	}
	for _, row := range rows {
		if dir := spans(row[0]); len(dir) != 1 || !slices.Equal(spans(row[1]), allowed[dir[0]]) {
			t.Errorf("docs/ARCHITECTURE.md says that %v imports %v: the plan is %v", dir, spans(row[1]), allowed[dir[0]])
		}
	}
	_, list, _ := strings.Cut(text, "made for it:")
	list, _, _ = strings.Cut(list, "`internal/arch`")
	if !slices.Equal(spans(list), shared) {
		t.Errorf("docs/ARCHITECTURE.md says that the packages made for their siblings are %v: the plan is %v", spans(list), shared)
	}
}

func TestWhatThePlanAllowsIsUsed(t *testing.T) {
	used, asked := map[[2]string]bool{}, map[string]bool{}
	for _, src := range sources(t) {
		for _, im := range src.ast.Imports {
			if to, ours := strings.CutPrefix(strings.Trim(im.Path.Value, `"`), module); ours {
				toDir, _, _ := strings.Cut(to, "/")
				used[[2]string{src.dir, toDir}] = true
				asked[to] = asked[to] || src.dir == toDir && path.Dir(src.path) != toDir
			}
		}
	}
	for dir, may := range allowed {
		for _, to := range may {
			if !used[[2]string{dir, to}] {
				t.Errorf("%s may import %s and does not: shorten the plan", dir, to)
			}
		}
	}
	for _, to := range shared {
		if !asked[to] {
			t.Errorf("%s is made for its siblings, and none uses it: shorten the plan", to)
		}
	}
}
