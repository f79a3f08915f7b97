// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// Pattern holds the images of one energy, one per direction of the beam.
type Pattern struct {
	Energy   float64      // photon energy in eV
	KVectors [][3]float64 // direction (x, y, z) of the beam for each image
	Shape    [2]int       // number of pixels along Qy, Qx
	Images   []Field      // intensities in the order Qy, Qx, with Qx fastest; NaN if a pixel is invalid
}

// FileNames returns the names of the files for energies (eV), in their order: Energy_284.70.h5 and
// so on. Energies that two decimals do not distinguish get all their digits; CyRSoXS would overwrite
// one file with the other. Equal energies are an error.
func FileNames(energies []float64) ([]string, error) {
	var bad mistakes
	bad.energies(energies)
	if err := bad.in(""); err != nil {
		return nil, err
	}
	names, count := make([]string, len(energies)), map[string]int{}
	for i, e := range energies {
		names[i] = fmt.Sprintf("Energy_%.2f.h5", e)
		count[names[i]]++
	}
	for i, e := range energies {
		if count[names[i]] > 1 {
			names[i] = "Energy_" + strconv.FormatFloat(e, 'f', -1, 64) + ".h5"
		}
	}
	return names, nil
}

// WritePatterns writes the file of each energy into a folder, which it creates if needed.
func WritePatterns(dir string, all []*Pattern) error {
	var energies []float64
	for _, p := range all {
		energies = append(energies, p.Energy)
	}
	names, err := FileNames(energies)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("cyrsoxs: %w", err)
	}
	for i, p := range all {
		if err := WritePattern(filepath.Join(dir, names[i]), p); err != nil {
			return err
		}
	}
	return nil
}

// WritePattern writes the images of one energy, and overwrites an existing file: KIDList/KVec, and
// K0/projection, K1/projection, ... with axes Qy and Qx. The energy is only in the name of the file:
// take it from FileNames.
func WritePattern(name string, p *Pattern) error {
	if err := p.mistakes().in(name); err != nil {
		return err
	}
	w, err := hdf5.Create(name)
	if err != nil {
		return fmt.Errorf("cyrsoxs: %w", err)
	}
	defer w.Discard()
	var beams []float32
	for i, k := range p.KVectors {
		beams = append(beams, float32(k[0]), float32(k[1]), float32(k[2]))
		key := imageKey(i)
		w.Write(key, p.Images[i].slice(), hdf5.Layout{Shape: p.Shape[:]})
		w.Attr(key, "DIMENSION_LABELS", []string{"Qy", "Qx"})
	}
	w.Write(keyBeamList, beams, hdf5.Layout{Shape: []int{len(p.KVectors), 3}})
	return w.Close()
}

const keyBeamList = "KIDList/KVec"

func imageKey(i int) string { return fmt.Sprintf("K%d/projection", i) }

func (p *Pattern) mistakes() mistakes {
	var bad mistakes
	if len(p.Images) != len(p.KVectors) || len(p.Images) == 0 {
		bad.add("Images", "give one image per beam", "there are %d images, but %d beams in KVectors", len(p.Images), len(p.KVectors)).Err = ErrIncomplete
	}
	for i, f := range p.Images {
		if want := p.Shape[0] * p.Shape[1]; f.Len() != want || want == 0 || f.Float32 != nil && f.Float64 != nil {
			bad.add(imageKey(i), "fill one of the two precisions", "it has %d numbers, but the shape %v needs %d in one precision", f.Len(), p.Shape, want)
		}
	}
	return bad
}

// energyOf reads the energy from the name of a file.
func energyOf(name string) (float64, bool) {
	s, ok1 := strings.CutPrefix(filepath.Base(name), "Energy_")
	s, ok2 := strings.CutSuffix(s, ".h5")
	if !ok1 || !ok2 || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	e, err := strconv.ParseFloat(s, 64)
	return e, err == nil
}
