// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/sim/rsoxs/particle"
)

// readPlaces reads places of particles from a table as text: the columns x and y by their names, or else the first two.
func readPlaces(name string) (places [][2]float64, err error) {
	b, err := foreign.ReadFile(name)
	if err != nil {
		return nil, err
	}
	at := [2]int{0, 1}
	for n, line := range strings.Split(string(foreign.Unmarked(b)), "\n") {
		cells := strings.FieldsFunc(strings.TrimLeft(strings.TrimSpace(line), "# "), func(r rune) bool { return r == ',' || r == ';' || r == '\t' || r == ' ' || r == '\r' })
		if len(cells) == 0 {
			continue
		}
		if _, err := strconv.ParseFloat(cells[0], 64); err != nil && len(places) == 0 {
			for i, c := range cells {
				switch word := strings.ToLower(c); {
				case word == "x" || strings.HasPrefix(word, "x_") || strings.HasPrefix(word, "x("):
					at[0] = i
				case word == "y" || strings.HasPrefix(word, "y_") || strings.HasPrefix(word, "y("):
					at[1] = i
				}
			}
			continue
		}
		var p [2]float64
		for k, i := range at {
			if i >= len(cells) {
				return nil, fmt.Errorf("morph: %s, line %d has %d columns: want x and y of a particle", name, n+1, len(cells))
			}
			if p[k], err = strconv.ParseFloat(cells[i], 64); err != nil || math.IsNaN(p[k]) || math.IsInf(p[k], 0) {
				return nil, fmt.Errorf("morph: %s, line %d holds %q: want x and y of a particle as numbers", name, n+1, cells[i])
			}
		}
		places = append(places, p)
	}
	if len(places) == 0 {
		return nil, fmt.Errorf("morph: %s has no line of numbers: want x and y of each particle", name)
	}
	return places, nil
}

// readPlaces replaces the file with places of particles by what it holds.
func (p *Problem) readPlaces(base string) error {
	if p.Options.PlacesFile == "" {
		return nil
	}
	places, err := readPlaces(below(base, p.Options.PlacesFile))
	p.Options.Places, p.Options.PlacesFile = places, ""
	return err
}

// checkPlaces checks the places of particles.
func (p *Problem) checkPlaces() (bad []string) {
	o := p.Options
	switch given := o.PlacesFile != "" || o.Places != nil; {
	case !given && o.Box == ([2]float64{}):
	case !given:
		bad = append(bad, "options.box is set without places: give options.places or options.places_file, or leave box out")
	case !(o.Box[0] > 0) || !(o.Box[1] > 0):
		bad = append(bad, fmt.Sprintf("options.box is %v: want the sides of the rectangle in which the places were counted, along x and y in nm", o.Box))
	}
	for _, name := range []string{"hard_radius", "hard_share"} {
		_, searched := p.Parameters[name]
		if _, fixed := p.Fixed[name]; (searched || fixed) && (o.PlacesFile != "" || o.Places != nil) {
			bad = append(bad, fmt.Sprintf("%s and options.places are both given: particles have one structure, so leave one out", name))
		}
	}
	return bad
}

// structure returns that of the places of particles, up to a q in 1/nm: the known places, or else the one that made returns for hard
// bodies of a radius and a share; nil for neither.
func (p *Problem) structure(at Values, q float64, made func(radius, share *ad.Node) particle.Structure) (particle.Structure, error) {
	if !has(problemModels[p.Model].Params, "hard_radius") {
		return nil, nil
	}
	if p.Options.Places != nil {
		return particle.NewPlaces(p.Options.Places, p.Options.Box, q)
	}
	if r, f := at("hard_radius"), at("hard_share"); r != nil && f != nil {
		return made(r, f), nil
	}
	return nil, nil
}
