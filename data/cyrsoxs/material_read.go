// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/libconfig"
	"github.com/euryale-dev/euryale/internal/foreign"
)

const energyGroup = "EnergyData"

// columns lists the numbers of a group in the order in which they are written.
var columns = []struct {
	key   string
	place func(e *float64, c *Constants) *float64
}{
	{"Energy", func(e *float64, c *Constants) *float64 { return e }},
	{"BetaPara", func(e *float64, c *Constants) *float64 { return &c.BetaPara }},
	{"BetaPerp", func(e *float64, c *Constants) *float64 { return &c.BetaPerp }},
	{"DeltaPara", func(e *float64, c *Constants) *float64 { return &c.DeltaPara }},
	{"DeltaPerp", func(e *float64, c *Constants) *float64 { return &c.DeltaPerp }},
}

// maxMaterialBytes is the largest size of a file of constants.
const maxMaterialBytes = 16 << 20

// ReadMaterial reads a table of optical constants such as Material1.txt: groups EnergyData0,
// EnergyData1, ... in any order, each with Energy (eV), DeltaPara, BetaPara, DeltaPerp and BetaPerp.
// Rows are in the order of the groups' numbers. As NRSS does, it also reads a text that is not valid
// libconfig but has complete rows of lines such as `BetaPara = 1e-3;`.
func ReadMaterial(name string) (*Material, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cyrsoxs: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxMaterialBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cyrsoxs: %w", err)
	}
	return ParseMaterial(text, name)
}

// ParseMaterial is ReadMaterial for a text; name becomes the name of the material.
func ParseMaterial(text []byte, name string) (*Material, error) {
	if len(text) > maxMaterialBytes {
		return nil, &FormatError{Format: "cyrsoxs", File: name, What: fmt.Sprintf("the file has more than %d MiB", maxMaterialBytes>>20), Try: "give a table of optical constants"}
	}
	root, err := libconfig.Parse(text, name)
	if err != nil {
		if m := byLines(text, name); m != nil {
			return m, nil
		}
		return nil, err
	}
	m, bad := groups(root)
	if bad == nil {
		bad = m.mistakes()
	}
	if err := bad.in(name); err != nil {
		return nil, err
	}
	return m, nil
}

// groups reads the groups of a file.
func groups(root *libconfig.Value) (*Material, mistakes) {
	type row struct {
		number int
		v      *libconfig.Value
	}
	var rows []row
	for _, v := range root.Items {
		digits, ok := strings.CutPrefix(v.Name, energyGroup)
		if n, err := strconv.Atoi(digits); ok && err == nil && n >= 0 && v.Kind == libconfig.Group {
			rows = append(rows, row{n, v})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return a.number - b.number })
	m := &Material{Name: root.File()}
	var bad mistakes
	if rows == nil {
		bad.add("", "write EnergyData0: { Energy = 284.7; BetaPara = ...", "there is no group EnergyData0").Err = ErrIncomplete
	}
	for _, r := range rows {
		var energy float64
		var c Constants
		for _, col := range columns {
			bad.number(r.v, col.key, col.place(&energy, &c))
		}
		m.Energies, m.Constants = append(m.Energies, energy), append(m.Constants, c)
	}
	return m, bad
}

// number reads one number of a group.
func (b *mistakes) number(group *libconfig.Value, key string, to *float64) {
	v, err := group.Lookup(key)
	if err != nil {
		e := b.add(group.Name, "add "+key+" = 0.0;", "it has no %s", key)
		e.Line, e.Err = group.Line, ErrIncomplete
		return
	}
	if *to, err = v.AsFloat(); err != nil {
		b.add(group.Name, "write "+key+" = 0.0;", "%s is a %s, want a number", key, v.Kind).Line = v.Line
	}
}

// byLines reads the lines that begin with the name of a number, and ignores all others. It returns
// nil if they do not form a complete table.
func byLines(text []byte, name string) *Material {
	var all [5][]float64
	for line := range bytes.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSpace(string(line)), "=")
		if !ok {
			continue
		}
		for i, col := range columns {
			if strings.TrimSpace(key) == col.key {
				v, err := strconv.ParseFloat(strings.Trim(value, " \t;,"), 64)
				if err != nil || math.IsInf(v, 0) {
					return nil
				}
				all[i] = append(all[i], v)
			}
		}
	}
	m := &Material{Name: name, Energies: all[0], Constants: make([]Constants, len(all[0]))}
	for i, col := range columns {
		if len(all[i]) != len(m.Energies) || len(m.Energies) == 0 {
			return nil
		}
		for j, v := range all[i] {
			*col.place(&m.Energies[j], &m.Constants[j]) = v
		}
	}
	if m.mistakes() != nil {
		return nil
	}
	return m
}

// ReadMaterials reads Material1.txt, Material2.txt, ... from a folder. A missing number is an error.
func ReadMaterials(dir string) ([]*Material, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cyrsoxs: %w", err)
	}
	var numbers []int
	other := map[int]string{} // names that differ in their case only
	for _, e := range entries {
		low := strings.ToLower(e.Name())
		if n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(low, "material"), ".txt")); err == nil {
			other[n] = e.Name()
		}
		rest, ok1 := strings.CutPrefix(e.Name(), "Material")
		digits, ok2 := strings.CutSuffix(rest, ".txt")
		if n, err := strconv.Atoi(digits); ok1 && ok2 && err == nil && n > 0 && strconv.Itoa(n) == digits {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	lacks := func(n int, what, try string) error {
		if near := other[n]; near != "" {
			try = fmt.Sprintf("rename %s to Material%d.txt", near, n)
		}
		return &FormatError{Format: "cyrsoxs", File: dir, What: what, Try: try, Err: ErrIncomplete}
	}
	if numbers == nil {
		return nil, lacks(1, "the folder has no Material1.txt", "give the folder of config.txt")
	}
	var all []*Material
	for i, n := range numbers {
		if n != i+1 {
			return nil, lacks(i+1, fmt.Sprintf("the folder has Material%d.txt but no Material%d.txt", n, i+1), "number the files from 1 without gaps")
		}
		m, err := ReadMaterial(filepath.Join(dir, fmt.Sprintf("Material%d.txt", n)))
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}
