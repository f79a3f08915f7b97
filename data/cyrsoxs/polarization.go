// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// Polarization is the induced polarization of a volume in the order Z, Y, X. One of the two
// precisions is empty.
type Polarization struct {
	Shape  [3]int          // number of voxels along Z, Y, X
	Single [3][]complex64  // the x, y and z components in single precision
	Double [3][]complex128 // the x, y and z components in double precision
}

// WritePolarization writes PolarizationX.h5, PolarizationY.h5 and PolarizationZ.h5, with the
// datasets pX, pY and pZ of shape (Z, Y, X, 2), real and imaginary part, into a folder that it
// creates if needed.
func WritePolarization(dir string, p *Polarization) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("cyrsoxs: %w", err)
	}
	for i, axis := range []string{"X", "Y", "Z"} {
		name := filepath.Join(dir, "Polarization"+axis+".h5")
		f := pairs(p.Single[i], p.Double[i])
		if want := 2 * p.Shape[0] * p.Shape[1] * p.Shape[2]; f.Len() != want || want == 0 || p.Single[i] != nil && p.Double[i] != nil {
			return &FormatError{Format: "cyrsoxs", File: name, Place: "p" + axis, What: fmt.Sprintf("it has %d numbers, but the shape %v needs %d in one precision", f.Len()/2, p.Shape, want/2)}
		}
		w, err := hdf5.Create(name)
		if err != nil {
			return fmt.Errorf("cyrsoxs: %w", err)
		}
		w.Write("p"+axis, f.slice(), hdf5.Layout{Shape: append(p.Shape[:len(p.Shape):len(p.Shape)], 2)})
		w.Attr("p"+axis, "DIMENSION_LABELS", []string{"Z", "Y", "X", ""})
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}

// pairs interleaves real and imaginary parts.
func pairs(single []complex64, double []complex128) Field {
	var f Field
	for _, z := range single {
		f.Float32 = append(f.Float32, real(z), imag(z))
	}
	for _, z := range double {
		f.Float64 = append(f.Float64, real(z), imag(z))
	}
	return f
}
