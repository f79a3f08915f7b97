// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

// Scale makes a dataset the coordinate of an axis, under a name such as "q":
// netCDF, xarray and h5py call it a dimension scale.
func (w *Writer) Scale(key, name string) error {
	if err := w.Attr(key, "CLASS", FixedString("DIMENSION_SCALE")); err != nil {
		return err
	}
	return w.Attr(key, "NAME", FixedString(name))
}

// Attach gives axis i of a dataset a dimension scale.
func (w *Writer) Attach(key string, axis int, scale string) error {
	n, err := w.at(key)
	if err != nil {
		return err
	}
	if n.data == nil || axis < 0 || axis >= len(n.data.dims) {
		return w.fail(key, "it has no axis %d: axes are numbered from 0", axis)
	}
	if _, err := w.at(scale); err != nil {
		return err
	}
	if n.scales == nil {
		n.scales = make([][]string, len(n.data.dims))
	}
	n.scales[axis] = append(n.scales[axis], scale)
	return nil
}

// attachScales converts attached scales into the attribute DIMENSION_LIST.
func (w *Writer) attachScales() {
	for _, n := range w.objects() {
		if n.scales == nil {
			continue
		}
		lists := make([][]Ref, len(n.scales))
		for i, paths := range n.scales {
			for _, p := range paths {
				lists[i] = append(lists[i], Ref{Path: p})
			}
		}
		w.Attr(n.path, "DIMENSION_LIST", lists)
	}
}
