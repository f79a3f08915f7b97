// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package frames reads detector frames, block by block.
//
// A [File] is a movie of one detector: HDF5 with any of the usual compressions, IMM files of the
// Advanced Photon Source (dense or sparse), event lists of Rigaku's detectors, NumPy arrays, plain
// binary numbers, stacks of TIFF and EDF pictures, and folders of numbered TIFF, EDF or CBF pictures. Formats that store events return them as [Events]. Every file also returns dense
// frames.
//
//	f, err := frames.Open("A003_000.h5", frames.Settings{})
//	if err != nil { ... }
//	defer f.Close()
//	one := make([]float32, f.Height*f.Width)
//	err = f.Dense(17, one)       // frame 17, row-major
//	if f.Lost != nil { ... }     // the file ends within a frame: what there is of it, in words
//
// Pixels that a detector marks as bad with the largest number of its type, such as the gaps of Dectris
// detectors, are NaN. A frame has at most Settings.MaxPixels pixels, which is checked before memory is taken for one.
package frames
