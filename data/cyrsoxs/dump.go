// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// WriteDump writes a volume as a simulation sees it into a folder, which it creates if needed:
// Morphology.h5, and Morphology.xdmf, which ParaView and VisIt open. Groups are Material_1,
// Material_2, ... with S, Theta, Psi and Vfrac, or Sx, Sy, Sz and UnalignedFraction.
func WriteDump(dir string, m *Morphology) error {
	if err := m.shapes().in(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("cyrsoxs: %w", err)
	}
	w, err := hdf5.Create(filepath.Join(dir, dumpFile))
	if err != nil {
		return fmt.Errorf("cyrsoxs: %w", err)
	}
	defer w.Discard()
	for i := range m.Phases {
		for _, p := range dumped[m.Type] {
			key, f := fmt.Sprintf("Material_%d/%s", i+1, p.name), p.field(&m.Phases[i])
			if f.IsZero() {
				f = newField(m.Voxels(), m.isDouble())
			}
			w.Write(key, f.slice(), hdf5.Layout{Shape: m.Shape[:]})
			w.Attr(key, "DIMENSION_LABELS", []string{"Z", "Y", "X"})
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, "Morphology.xdmf"), true, func(w io.Writer) error {
		_, err := io.WriteString(w, m.xdmf())
		return err
	})
}

const dumpFile = "Morphology.h5"

// dumped lists the fields of a dump.
var dumped = map[MorphologyType][]struct {
	name  string
	field func(p *Phase) Field
}{
	Euler: {
		{"S", func(p *Phase) Field { return p.S }},
		{"Theta", func(p *Phase) Field { return p.Theta }},
		{"Psi", func(p *Phase) Field { return p.Psi }},
		{"Vfrac", func(p *Phase) Field { return p.Vfrac }},
	},
	Vector: {
		{"Sx", func(p *Phase) Field { return component(p.Alignment, 0) }},
		{"Sy", func(p *Phase) Field { return component(p.Alignment, 1) }},
		{"Sz", func(p *Phase) Field { return component(p.Alignment, 2) }},
		{"UnalignedFraction", func(p *Phase) Field { return p.Unaligned }},
	},
}

// component returns x, y or z (0, 1, 2) of an alignment.
func component(f Field, k int) Field {
	if f.IsZero() {
		return f
	}
	out := newField(f.Len()/3, f.Float64 != nil)
	for i := range out.Len() {
		out.set(i, f.At(3*i+k))
	}
	return out
}

// xdmf describes the dump as voxels of edge 1: a mesh of one point more than
// voxels along each axis, with a number per cell.
func (m *Morphology) xdmf() string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	bytes := 4
	if m.isDouble() {
		bytes = 8
	}
	put(`<?xml version="1.0"?>`)
	put(`<Xdmf Version="2.2">`)
	put(`  <Domain>`)
	put(`    <Grid Name="morphology" GridType="Uniform">`)
	put(`      <Topology TopologyType="3DCORECTMesh" NumberOfElements="%d %d %d"/>`, m.Shape[0]+1, m.Shape[1]+1, m.Shape[2]+1)
	put(`      <Geometry GeometryType="ORIGIN_DXDYDZ">`)
	for _, v := range []string{"0", "1"} { // origin, spacing
		put(`        <DataItem Dimensions="3" NumberType="Float" Precision="4" Format="XML">%s %s %s</DataItem>`, v, v, v)
	}
	put(`      </Geometry>`)
	for _, p := range dumped[m.Type] {
		for i := range m.Phases {
			put(`      <Attribute Name="Mat_%d_%s" AttributeType="Scalar" Center="Cell">`, i+1, p.name)
			put(`        <DataItem Dimensions="%d %d %d" NumberType="Float" Precision="%d" Format="HDF">%s:/Material_%d/%s</DataItem>`,
				m.Shape[0], m.Shape[1], m.Shape[2], bytes, dumpFile, i+1, p.name)
			put(`      </Attribute>`)
		}
	}
	put(`    </Grid>`)
	put(`  </Domain>`)
	put(`</Xdmf>`)
	return b.String()
}
