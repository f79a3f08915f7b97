// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package docs_test

import (
	"html"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	anchor    = regexp.MustCompile(`\bid="?([^" >]+)`)
	reference = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	scheme    = regexp.MustCompile(`^[a-z]+:`)
)

// The site builds, and each link of its pages leads to a file of it, and to a place on that page. The generator is that in $HUGO, or one in the path.
func TestLinksOfTheSite(t *testing.T) {
	hugo := os.Getenv("HUGO")
	if hugo == "" {
		hugo = "hugo"
	}
	if _, err := exec.LookPath(hugo); err != nil {
		t.Skip("lacks Hugo: set HUGO to its binary, or put it into the path")
	}
	site := t.TempDir()
	build := exec.Command(hugo, "--destination", site, "--panicOnWarning", "--noBuildLock")
	build.Dir = filepath.Join(root, "site")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	pages, places := map[string]string{}, map[string]map[string]bool{}
	err := filepath.WalkDir(site, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".html") {
			return err
		}
		text, err := os.ReadFile(name)
		pages[name], places[name] = string(text), map[string]bool{}
		for _, m := range anchor.FindAllStringSubmatch(string(text), -1) {
			places[name][m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for name, text := range pages {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			to := html.UnescapeString(m[1])
			if scheme.MatchString(to) {
				continue
			}
			links++
			if fault := leads(site, name, to, places); fault != "" {
				t.Errorf("%s: %s: %s", strings.TrimPrefix(name, site), to, fault)
			}
		}
	}
	if len(pages) < 60 || links < 1000 {
		t.Errorf("%d pages with %d links: they are not found any more", len(pages), links)
	}
}

// leads says what is wrong with a link of a page, "" for nothing. The page that fits files is built by another target.
func leads(site, page, to string, places map[string]map[string]bool) string {
	file, place, _ := strings.Cut(to, "#")
	path, err := url.PathUnescape(file)
	if err != nil {
		return err.Error()
	}
	name := page
	if path != "" {
		name = filepath.Join(filepath.Dir(page), filepath.FromSlash(path))
	}
	if name == filepath.Join(site, "try") {
		return ""
	}
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		name = filepath.Join(name, "index.html")
		_, err = os.Stat(name)
	}
	if err != nil {
		return "there is no such file"
	}
	if place, err = url.PathUnescape(place); err != nil || place != "" && places[name] != nil && !places[name][place] {
		return "the page has no such place"
	}
	return ""
}
