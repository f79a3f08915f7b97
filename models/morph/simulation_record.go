// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// SimulationRecordFile is the name of a SimulationRecord in the folder of images.
const SimulationRecordFile = "run.json"

// SimulationRecord holds everything that determines the values of the images.
type SimulationRecord struct {
	Command    string             `json:"command"` // command that wrote the images
	Version    string             `json:"version"` // version of the command
	Morphology string             `json:"morphology"`
	SHA256     string             `json:"morphology_sha256"`
	PhysSize   float64            `json:"phys_size_nm"`
	Shape      [3]int             `json:"shape_zyx"`
	Flags      SimulationSettings `json:"flags"`
	Energies   []float64          `json:"energies"` // photon energies in eV
	Settings   string             `json:"settings"` // settings in the format of config.txt
	Optics     rsoxs.Optics       `json:"optical_constants"`
	// Device is where the images were computed. It does not count as a difference, because images
	// of other devices are the same up to rounding.
	Device string `json:"device,omitempty"`
}

// Record describes the simulation of a morphology read from a file, without command and
// version.
func (s *Simulation) Record(file string) (*SimulationRecord, error) {
	f, err := foreign.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	settings := *s.Settings
	settings.HDF5Dir, settings.NumThreads, settings.MaxStreams, settings.DumpMorphology = "", 0, 0, false
	how := s.How
	how.Backend = nil // images are the same wherever they are computed, up to rounding
	return &SimulationRecord{Morphology: file, SHA256: fmt.Sprintf("%x", h.Sum(nil)), PhysSize: s.Volume.PhysSize,
		Shape: s.Volume.Shape, Flags: how, Energies: s.Config.Energies, Settings: settings.String(), Optics: s.Optics}, nil
}

// ReadSimulationRecord reads the record of the images in a folder; it is nil if there is
// none.
func ReadSimulationRecord(dir string) (*SimulationRecord, error) {
	name := filepath.Join(dir, SimulationRecordFile)
	b, err := foreign.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &SimulationRecord{}
	if err := foreign.Decode(b, r, false); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// Differences names the entries in which two records differ.
func (r *SimulationRecord) Differences(o *SimulationRecord) (names []string) {
	a, b := *r, *o
	a.Version, b.Version, a.Morphology, b.Morphology, a.Device, b.Device = "", "", "", "", "", ""
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			names = append(names, x.Type().Field(i).Tag.Get("json"))
		}
	}
	return names
}
