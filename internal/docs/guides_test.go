// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/docs"
)

// Every guide stands in the index of the guides.
func TestEveryGuideIsInTheIndex(t *testing.T) {
	all := pages(t)
	at := slices.IndexFunc(all, func(p docs.Page) bool { return p.Path == "docs/guide/_index.md" })
	if at < 0 {
		t.Fatal("there is no docs/guide/_index.md")
	}
	for _, p := range all {
		name, isGuide := strings.CutPrefix(p.Path, "docs/guide/")
		if isGuide && name != "_index.md" && !slices.ContainsFunc(all[at].Links, func(s docs.Span) bool { return path.Clean(s.Text) == name }) {
			t.Errorf("docs/guide/_index.md does not have %s", name)
		}
	}
}

// Every promise names a test that holds it; that the test exists is another test, TestNamesInDocuments.
func TestPromisesNameTheirTests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "guide", "promises.md"))
	if err != nil {
		t.Fatal(err)
	}
	holds, promises := regexp.MustCompile("`[a-z0-9]+\\.Test[A-Z]|UNITS"), 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, " | ")
		if len(cells) != 2 || cells[0] == "| promise" {
			continue
		}
		if promises++; !holds.MatchString(cells[1]) {
			t.Errorf("no test holds this promise: %s", cells[0])
		}
	}
	if promises < 20 {
		t.Errorf("%d promises: they are not found any more", promises)
	}
}
