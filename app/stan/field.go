// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/models/stan"
)

// Field is programs of the Stan language.
func Field() frame.Field {
	return frame.Field{
		Commands: []frame.Command{{Verb: "sample", New: sampleStan, Takes: frame.TakesOut | frame.TakesResume | frame.TakesDevice},
			{Verb: "fit", New: fitStan, Takes: frame.TakesOut | frame.TakesDevice}},
		Explained: func(name string) bool { return strings.HasSuffix(name, ".stan") },
		Explain:   explain,
	}
}

// programDoc is the JSON document of info of a program.
type programDoc struct {
	Program string   `json:"program"`
	Data    []string `json:"data"`
	Notes   []string `json:"notes"`
}

// explain prints what a program needs and what deserves a warning.
func explain(a *frame.App, name string) error {
	text, err := source(name)
	if err != nil {
		return err
	}
	p, err := stan.Parse(filepath.Base(name), text, stan.Settings{Deprecated: true})
	if err != nil {
		return exit.With(exit.Data, err)
	}
	doc := programDoc{Program: name, Data: p.Data(), Notes: p.Notes}
	if a.JSON {
		return exit.With(exit.CannotWrite, a.Document(doc))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is a program of the Stan language.\n", name)
	for _, block := range p.Describe() {
		fmt.Fprintf(&b, "\n%s\n", block)
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "\nnote: %s\n", n)
	}
	_, err = fmt.Fprint(a.Stdout, b.String())
	return exit.With(exit.CannotWrite, err)
}
