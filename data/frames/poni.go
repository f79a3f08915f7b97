// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// isPONI reports whether a file is a geometry of pyFAI, by its name.
func isPONI(name string) bool { return strings.EqualFold(filepath.Ext(name), ".poni") }

// pixelOf are the edges of pixels (m) of detectors whose geometry files give only their name.
var pixelOf = map[string]float64{"pilatus": 172e-6, "eiger": 75e-6}

// poni is a geometry of pyFAI: lengths in m, angles in rad, and the first axis is that of rows.
type poni struct {
	file   string
	fields map[string]string // by key in lower case; of several, the last counts
	config struct {
		Pixel1, Pixel2 float64
		MaxShape       []int `json:"max_shape"`
		Orientation    int
	}
}

// readPONI reads a geometry as pyFAI writes it, whose pixels have an edge of the given size unless that is NaN. The point of normal incidence is
// where the beam would hit the detector if it were not turned, as BeamX and BeamY are with swings.
//
// Format: versions 1 to 2.1, as in pyFAI's page on the default geometry.
func readPONI(name string, pixel float64) (*Metadata, error) {
	b, err := foreign.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p, err := parsePONI(name, b)
	if err != nil {
		return nil, err
	}
	m := unknown()
	if m.PixelHeight, m.PixelSize, err = p.pixels(pixel); err != nil {
		return nil, err
	}
	number := func(key string, missing float64) float64 {
		v, bad := p.number(key, missing)
		if err == nil {
			err = bad
		}
		return v
	}
	m.Distance = number("distance", math.NaN())
	m.Energy = hcKeV / (number("wavelength", math.NaN()) * 1e10)
	m.BeamY = number("poni1", math.NaN())/m.PixelHeight - 0.5
	m.BeamX = number("poni2", math.NaN())/m.PixelSize - 0.5
	m.turned(number("rot1", 0), number("rot2", 0), number("rot3", 0), name)
	if err != nil {
		return nil, err
	}
	if s := p.config.MaxShape; len(s) == 2 && s[0] > 0 && s[1] > 0 {
		m.Height, m.Width = s[0], s[1]
	}
	return m, nil
}

func parsePONI(name string, b []byte) (*poni, error) {
	p := &poni{file: name, fields: map[string]string{}}
	for line := range bytes.Lines(foreign.Unmarked(b)) {
		key, value, found := strings.Cut(string(line), ":")
		if key = strings.TrimSpace(key); found && !strings.HasPrefix(key, "#") {
			p.fields[strings.ToLower(key)] = strings.TrimSpace(value)
		}
	}
	if p.fields["poni1"] == "" || p.fields["poni2"] == "" || p.fields["distance"] == "" {
		return nil, p.bad("save the geometry again from pyFAI, or give the geometry as flags", "the file has no Distance, Poni1 and Poni2, so it is no geometry of pyFAI")
	}
	if text := p.fields["detector_config"]; text != "" {
		if err := json.Unmarshal([]byte(text), &p.config); err != nil {
			return nil, &FormatError{Format: "frames", File: name, What: "the Detector_config of the geometry is no JSON object of numbers", Err: foreign.InWords([]byte(text), err), Try: "save the geometry again from pyFAI"}
		}
	}
	if o := p.config.Orientation; o != 0 && o != 3 {
		return nil, p.bad("give the geometry as flags, for the image as it is stored", "the geometry is that of an image which pyFAI turns (orientation %d), and only 3 is read", o)
	}
	return p, nil
}

func (p *poni) bad(try, what string, args ...any) error {
	return &FormatError{Format: "frames", File: p.file, What: fmt.Sprintf(what, args...), Try: try}
}

// number returns the number of a key.
func (p *poni) number(key string, missing float64) (float64, error) {
	text := p.fields[key]
	if text == "" || text == "None" {
		return missing, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return missing, p.bad("correct it in the file", "%s is %.40q and not a finite number", key, text)
	}
	return v, nil
}

// pixels returns the height and the width of a pixel (m), NaN if the file does not say them.
func (p *poni) pixels(given float64) (height, width float64, err error) {
	if !math.IsNaN(given) {
		return given, given, nil
	}
	if height, err = p.number("pixelsize1", p.config.Pixel1); err != nil {
		return 0, 0, err
	}
	if width, err = p.number("pixelsize2", p.config.Pixel2); err != nil {
		return 0, 0, err
	}
	if height > 0 && width > 0 {
		return height, width, nil
	}
	for name, size := range pixelOf {
		if strings.HasPrefix(strings.ToLower(p.fields["detector"]), name) {
			return size, size, nil
		}
	}
	return math.NaN(), math.NaN(), nil
}

// turned sets the swings from pyFAI's rotations (rad). It turns about the vertical axis by rot1, then about the horizontal one by rot2
// and about the beam by rot3; here the horizontal axis comes first. Any rotation can be written either way, up to one about the
// beam, which moves azimuths but no q:
//
//	sin(SwingHorizontal) = -sin(rot1) cos(rot2), tan(SwingVertical) = sin(rot2) / (cos(rot1) cos(rot2))
func (m *Metadata) turned(rot1, rot2, rot3 float64, name string) {
	s1, c1 := math.Sincos(rot1)
	s2, c2 := math.Sincos(rot2)
	m.SwingHorizontal, m.SwingVertical = math.Asin(-s1*c2), math.Atan2(s2, c1*c2)
	sv, cv := math.Sincos(m.SwingVertical)
	about := rot3 + math.Atan2(-s1*sv, c2*cv+c1*s2*sv)
	if deg := about * 180 / math.Pi; math.Abs(deg) > 0.01 {
		m.Faults = append(m.Faults, Fault{"Roll", fmt.Errorf("frames: %s: the detector is turned about the beam, which moves azimuths and no q: to add it to azimuths, give --phi-offset %.4gdeg", name, deg)})
	}
}
