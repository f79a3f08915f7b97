// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package stan runs programs of the Stan language: it parses and checks them, reads their data, and makes them posteriors for the samplers
// of package infer, without a C++ compiler.
//
//	program, err := stan.Parse("schools.stan", source, stan.Settings{})
//	data, err := stan.ReadData(file)
//	post, err := program.Compile(data, stan.CompileSettings{})
//	fit, err := infer.Sample(ctx, post, infer.StanSettings())
//
// What depends on data only runs as the program is compiled; the log density becomes a graph, with loops over independent repetitions as
// operations on whole arrays. The language is that of Stan 2.38 (https://mc-stan.org/docs/reference-manual).
package stan

import (
	"errors"
	"fmt"
	"io"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/models/stan/internal/check"
	"github.com/euryale-dev/euryale/models/stan/internal/library"
	"github.com/euryale-dev/euryale/models/stan/internal/stage"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
)

func init() { given.BuildsGraphs() }

// Program is a checked program.
type Program struct {
	tree *syntax.Program
	// Notes are warnings: what is deprecated, or probably not meant.
	Notes []string
}

// Settings rule how programs are read.
type Settings struct {
	// Deprecated accepts the array syntax, the assignments <- and the functions that Stan dropped in 2.33, with a note.
	Deprecated bool
}

// catalogue is the library as the checker sees it.
type catalogue struct{}

func (catalogue) Overloads(name string) []typing.Overload {
	if f := library.Find(name); f != nil {
		return f.Overloads
	}
	return nil
}

func (catalogue) Solver(name string) (func(args []typing.Type) (typing.Type, error), bool) {
	return stage.Solver(name)
}

func (catalogue) Names() []string { return append(library.Names(), stage.Solvers()...) }

// Parse reads and checks a program. The name stands in messages. An error gives line, column and the line itself.
func Parse(name, source string, s Settings) (*Program, error) {
	tree, err := syntax.Parse(&syntax.Source{Name: name, Text: strings.TrimPrefix(source, "\ufeff")}, syntax.Settings{Deprecated: s.Deprecated})
	if err != nil {
		return nil, err
	}
	notes, err := check.Check(tree, catalogue{})
	if err != nil {
		return nil, err
	}
	p := &Program{tree: tree}
	for _, n := range notes {
		p.Notes = append(p.Notes, fmt.Sprintf("%s, line %d: %s", name, n.Source.Line(n.Span), n.Text))
	}
	return p, nil
}

// Expand puts the files that a program includes in the places of its #include lines. read returns the text of a file that one of them
// names, as it stands there.
func Expand(source string, read func(name string) (string, error)) (string, error) {
	return expand(source, read, 0)
}

// deepestInclude is how far files may include each other.
const deepestInclude = 50

var errIncludes = fmt.Errorf("stan: files include each other more than %d deep: remove the #include of a file by itself", deepestInclude)

func expand(source string, read func(name string) (string, error), depth int) (string, error) {
	if !strings.Contains(source, "#include") {
		return source, nil
	}
	if depth > deepestInclude {
		return "", errIncludes
	}
	var out strings.Builder
	for line := range strings.Lines(source) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "#include")
		if !ok {
			out.WriteString(line)
			continue
		}
		text, err := read(strings.Trim(strings.TrimSpace(rest), "<>\""))
		if err == nil {
			text, err = expand(text, read, depth+1)
		}
		if err != nil && !(errors.Is(err, errIncludes) && depth > 0) {
			err = fmt.Errorf("#include %s: %w", strings.TrimSpace(rest), err)
		}
		if err != nil {
			return "", err
		}
		out.WriteString(text + "\n")
	}
	return out.String(), nil
}

// CompileSettings rule the compilation.
type CompileSettings struct {
	// Backend runs the log density. Default: one thread of the processor.
	Backend ad.Backend
	// Seed is that of random numbers in transformed data.
	Seed uint64
	// NoJacobian leaves out the logarithm of the Jacobian of the constraints, as for the mode of the constrained density.
	NoJacobian bool
	// MaxStatements is how many statements may run while the program is compiled, so that loops without end stop. One outside of loops, or in one
	// with ranges of indices, print, tuples or complex numbers, counts as 20, one that depends on parameters as 240, and each element of a container that
	// is assigned as one more. Default 1.2e8.
	MaxStatements int
	// Print is where print statements of transformed data and generated quantities write. Default: nowhere.
	Print io.Writer
}

// Data lists the variables of the data block.
func (p *Program) Data() []string { return p.names() }

// Describe says what the blocks declare, one text a block.
func (p *Program) Describe() (blocks []string) {
	for i, b := range p.tree.Blocks {
		if b == nil || i == syntax.Model {
			continue
		}
		var lines []string
		for _, s := range b.List {
			if d, ok := s.(*syntax.Declare); ok {
				text := p.tree.Source.Text[d.Type.Span.From:d.Type.Span.To]
				lines = append(lines, "  "+strings.Join(strings.Fields(text), " ")+" "+d.Name)
			}
		}
		if len(lines) > 0 {
			blocks = append(blocks, syntax.BlockNames[i]+"\n"+strings.Join(lines, "\n"))
		}
	}
	return blocks
}
