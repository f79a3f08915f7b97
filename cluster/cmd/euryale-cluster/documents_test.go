// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/docs"
)

// Command lines and flags in documents about this program are its own.
func TestCommandLinesOfDocuments(t *testing.T) {
	root := (&app{}).root()
	root.InitDefaultHelpCmd()
	pages, err := docs.Pages("../../..")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, p := range pages {
		lines := p.Commands("euryale-cluster")
		for _, l := range lines {
			found++
			if f := docs.CommandFault(root, l.Text); f != "" {
				t.Errorf("%s:%d: %s: %s", p.Path, l.Line, l.Text, f)
			}
		}
		for _, s := range p.Spans {
			if docs.OfCluster(p) && strings.HasPrefix(s.Text, "--") && !docs.HasFlag(root, s.Text) {
				t.Errorf("%s:%d: no command has %s", p.Path, s.Line, s.Text)
			}
		}
	}
	if found < 8 {
		t.Errorf("%d command lines in documents: they are not found any more", found)
	}
}
