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

// usualOrientation is that of an image whose rows and columns pyFAI counts as they are stored.
const usualOrientation = 3

// isPONI reports whether a file is a geometry of pyFAI, by its name.
func isPONI(name string) bool { return strings.EqualFold(filepath.Ext(name), ".poni") }

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
// where the beam would hit the detector if it were not turned, as BeamX and BeamY are with swings. Azimuths of images in the orientations
// 1 and 3 are minus pyFAI's chi, and those of mirror images (2 and 4) are chi.
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
	m.turned(number("rot1", 0), number("rot2", 0), number("rot3", 0))
	if err != nil {
		return nil, err
	}
	if known := detectors[p.detector()]; known.pixel == m.PixelSize && known.pixel == m.PixelHeight { // else the pixels are binned
		m.Height, m.Width = known.rows, known.cols
	}
	if s := p.config.MaxShape; len(s) == 2 && s[0] > 0 && s[1] > 0 {
		m.Height, m.Width = s[0], s[1]
	}
	if o := p.config.Orientation; o != 0 && o != usualOrientation {
		if m.Height == 0 {
			return nil, p.bad("save the geometry with max_shape in Detector_config", "the geometry counts rows or columns from the far end (orientation %d) and does not say how many there are", o)
		}
		m.flipped(o)
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
	if o := p.config.Orientation; o < 0 || o > 4 {
		return nil, p.bad("correct it in the file", "the orientation is %d: want 1 to 4", o)
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
		return missing, p.bad(foreign.NumberTry(text, "correct it in the file"), "%s is %.40q and not a finite number", key, text)
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
	if d, ok := detectors[p.detector()]; ok {
		return d.pixel, d.pixel, nil
	}
	return math.NaN(), math.NaN(), nil
}

// turned sets swings and roll from pyFAI's rotations (rad). It turns about the vertical axis by rot1, then about the horizontal one by rot2
// and about the beam by rot3; here the horizontal axis comes first, and the roll makes up for it:
//
//	sin(SwingHorizontal) = -sin(rot1) cos(rot2), tan(SwingVertical) = sin(rot2) / (cos(rot1) cos(rot2))
func (m *Metadata) turned(rot1, rot2, rot3 float64) {
	s1, c1 := math.Sincos(rot1)
	s2, c2 := math.Sincos(rot2)
	m.SwingHorizontal, m.SwingVertical = math.Asin(-s1*c2), math.Atan2(s2, c1*c2)
	sv, cv := math.Sincos(m.SwingVertical)
	m.Roll = rot3 + math.Atan2(-s1*sv, c2*cv+c1*s2*sv)
}

// flipped makes the geometry that of the image as it is stored, whose rows (orientations 1 and 2) and columns (1 and 4) pyFAI counts from the
// far end. Where it does both, the image is turned by half a turn; where it does one, the image is a mirror image.
func (m *Metadata) flipped(orientation int) {
	if orientation == 1 || orientation == 2 {
		m.BeamY, m.SwingVertical, m.Roll = float64(m.Height-1)-m.BeamY, -m.SwingVertical, -m.Roll
	}
	if orientation == 1 || orientation == 4 {
		m.BeamX, m.SwingHorizontal, m.Roll = float64(m.Width-1)-m.BeamX, -m.SwingHorizontal, math.Remainder(math.Pi-m.Roll, 2*math.Pi)
	}
}
