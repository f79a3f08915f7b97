// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot"
)

// Kind is a kind of picture of draws, with a name by which the command line knows it: euryale plot NAME RUN.
type Kind struct {
	Name  string
	About string // short description, in one line
	// Draw makes the picture of the named quantities, or of all of them if no names are given. Every name that a registered Draw
	// receives is in d.Names: others are an error before it is called, and the name of an array stands for all of its elements.
	Draw func(d Draws, names ...string) (*Figure, error)
}

// kinds are the kinds of pictures: those of this package, each registered by its file, and those of others.
var kinds []Kind

// builtIn adds a kind of picture of this package, for init functions. Its Draw checks names and figures itself.
func builtIn(name, about string, draw func(d Draws, names ...string) (*Figure, error)) {
	kinds = append(kinds, Kind{name, about, draw})
}

// Kinds returns the kinds of pictures of draws, those of this package first.
func Kinds() []Kind { return slices.Clone(kinds) }

// Register adds a user-defined kind of picture to Kinds. It is meant for init functions, and panics if
// the definition is incomplete or the name is taken.
func Register(k Kind) {
	var lacks []string
	for _, part := range []struct {
		name    string
		missing bool
	}{{"Name", k.Name == ""}, {"About", k.About == ""}, {"Draw", k.Draw == nil}} {
		if part.missing {
			lacks = append(lacks, part.name)
		}
	}
	if len(lacks) > 0 {
		panic(fmt.Sprintf("viz: the definition of the kind of picture %q is incomplete: set %s", k.Name, strings.Join(lacks, ", ")))
	}
	if !plainName.MatchString(k.Name) {
		panic(fmt.Sprintf("viz: a kind of picture cannot be called %q: use letters, digits, _ and -, and begin with a letter", k.Name))
	}
	if slices.ContainsFunc(kinds, func(o Kind) bool { return o.Name == k.Name }) {
		panic(fmt.Sprintf("viz: there is a kind of picture %q already: give yours a name of its own", k.Name))
	}
	draw := k.Draw
	k.Draw = func(d Draws, names ...string) (*Figure, error) {
		if len(names) > 0 {
			names = d.elements(names)
		}
		for _, name := range names {
			if err := d.known(name); err != nil {
				return nil, fmt.Errorf("viz: the kind of picture %q: %w", k.Name, err)
			}
		}
		f, err := draw(d, names...)
		if err == nil {
			err = f.drawable()
		}
		if err != nil {
			return nil, fmt.Errorf("viz: the kind of picture %q: %w", k.Name, err)
		}
		return f, nil
	}
	kinds = append(kinds, k)
}

// plainName is a name that the command line can carry.
var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// drawable returns an error for a figure that shows nothing.
func (f *Figure) drawable() error {
	switch {
	case f == nil:
		return errors.New("Draw returned no Figure and no error: want one of them")
	case f.grid == nil && len(f.plots) == 0:
		return errors.New("Draw returned an empty Figure: make one with FromPlots and at least one plot, or with a function of package viz")
	case slices.Contains(f.plots, nil):
		return fmt.Errorf("Draw returned a Figure whose plot %d is nil: leave it out", slices.Index(f.plots, nil))
	case !(f.Width > 0 && f.Height > 0) || math.IsInf(f.Width, 1) || math.IsInf(f.Height, 1):
		return fmt.Errorf("Draw returned a Figure of %g by %g inches: want a positive Width and Height", f.Width, f.Height)
	}
	return nil
}

// FromPlots returns a figure of gonum.org/v1/plot plots, one below another, for user-defined pictures.
func FromPlots(title, note string, plots ...*plot.Plot) *Figure {
	return &Figure{Title: title, Note: note, Width: pageWidth, Height: 0.75 + 2.6*float64(max(len(plots), 1)), plots: plots}
}
