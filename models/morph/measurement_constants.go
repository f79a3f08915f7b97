// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"encoding/json"
	"fmt"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// openConstants returns the optical constants by energy and material, and says where beta is negative.
func (p *Problem) openConstants(at func(string) string, energies []float64) (rsoxs.Optics, []string, error) {
	var all []*cyrsoxs.Material
	for i, raw := range p.Constants {
		m, err := material(raw, at, energies)
		if err != nil {
			return nil, nil, fmt.Errorf("constants of material %d: %w", i+1, err)
		}
		all = append(all, m)
	}
	table, _, err := cyrsoxs.Optics(all, energies)
	if err != nil {
		return nil, nil, err
	}
	o := make(rsoxs.Optics, len(table))
	for e, row := range table {
		for _, c := range row {
			o[e] = append(o[e], rsoxs.Constants(c))
		}
	}
	return o, cyrsoxs.Amplifiers(all, table, energies), nil
}

// material reads a file such as "Material1.txt", "vacuum", or rows of numbers by energy.
func material(raw json.RawMessage, at func(string) string, energies []float64) (*cyrsoxs.Material, error) {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		if name == "vacuum" {
			return &cyrsoxs.Material{}, nil
		}
		m, err := cyrsoxs.ReadMaterial(at(name))
		return m, err
	}
	var rows [][]float64
	if err := json.Unmarshal(raw, &rows); err != nil || len(rows) != len(energies) && len(rows) != 1 {
		return nil, fmt.Errorf(`%.60s does not give optical constants: want a file, "vacuum", or %d rows of 4 numbers, one for each energy`, raw, len(energies))
	}
	m := &cyrsoxs.Material{Name: "constants", Energies: energies}
	for e := range energies {
		r := rows[min(e, len(rows)-1)]
		if len(r) != 4 {
			return nil, fmt.Errorf("row %d has %s: want DeltaPara, BetaPara, DeltaPerp, BetaPerp", e+1, errtext.Count(len(r), "number"))
		}
		m.Constants = append(m.Constants, cyrsoxs.Constants{DeltaPara: r[0], BetaPara: r[1], DeltaPerp: r[2], BetaPerp: r[3]})
	}
	return m, nil
}
