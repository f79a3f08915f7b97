// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/euryale-dev/euryale/internal/docs"
)

const root, module = "../..", "github.com/euryale-dev/euryale"

var parsed = sync.OnceValues(func() (*docs.Code, error) { return docs.Parse(root) })

func code(t *testing.T) *docs.Code {
	t.Helper()
	c, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pages(t *testing.T) []docs.Page {
	t.Helper()
	all, err := docs.Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var checker = sync.OnceValues(func() (*docs.Checker, error) {
	c, err := parsed()
	if err != nil {
		return nil, err
	}
	return docs.NewChecker(root, module, c)
})

func newChecker(t *testing.T) *docs.Checker {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles every package, where that was not done before")
	}
	k, err := checker()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Every snippet of Go in a document compiles: files as they stand, fragments each in the
// scope of those before it in the document. Whole programs run in the slow tier (app.TestProgramsOfGuides).
func TestSnippetsOfDocuments(t *testing.T) {
	k := newChecker(t)
	for _, p := range pages(t) {
		var fragments []docs.Snippet
		for _, b := range p.Blocks {
			if b.Lang != "go" {
				continue
			}
			s := docs.Snippet{Where: fmt.Sprintf("%s:%d", p.Path, b.Line), Text: b.Text}
			switch {
			case strings.HasPrefix(b.Text, "package "):
				report(t, s.Where, k.File(s))
			default:
				fragments = append(fragments, s)
			}
		}
		report(t, p.Path, k.Fragments(fragments, false))
	}
}

// Every block of code in a comment compiles, but for names in lower case that stand for
// the reader's own.
func TestSnippetsOfComments(t *testing.T) {
	k := newChecker(t)
	all := code(t).Comments(k.IsOurs)
	if len(all) < 40 {
		t.Errorf("%d snippets in comments: they are not found any more", len(all))
	}
	for _, s := range all {
		report(t, s.Where, k.Fragments([]docs.Snippet{s}, true))
	}
}

func report(t *testing.T, where string, errs []error) {
	t.Helper()
	for _, err := range errs {
		t.Errorf("snippet of %s: %v", where, err)
	}
}

// The checker finds what does not exist, and takes the reader's own names for granted.
func TestTheCheckerFindsMistakes(t *testing.T) {
	k := newChecker(t)
	for text, ok := range map[string]bool{
		`fit, err := infer.Sample(ctx, post, infer.Settings{Seed: 1})`: true,
		`fit, err := infer.Simple(ctx, post, infer.Settings{Seed: 1})`: false,
		`fit, err := infer.Sample(ctx, post, infer.Settings{Sede: 1})`: false,
		`fit := infer.Sample(ctx, post, infer.Settings{})`:             false,
		`if err != nil { ... }`: true,
		`x := (1`:               false,
	} {
		if errs := k.Fragments([]docs.Snippet{{Where: "test", Text: text}}, true); (len(errs) == 0) != ok {
			t.Errorf("%s: %v", text, errs)
		}
	}
}
