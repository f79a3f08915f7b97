// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package maskfile reads and writes detector masks.
//
// A [Mask] keeps the pixels whose value in the file is above 0. The extension of the file name
// determines the format:
//
//	.h5 .hdf .hdf5   a dataset of two axes; in one that is called pixel_mask, as detectors write it, 0 is a pixel that is kept
//	.tif .tiff       a picture of one number for each pixel, or a page of several: integers of 8 to 64 bits or floats
//	.npy .npz        an array of two axes
//	.edf .cbf        an image in which 0 is a pixel that is kept, as pyFAI writes masks; also packed, as .edf.gz and .cbf.gz
//	.txt .dat .csv   a line of numbers for each row of the detector, or two columns: a list of pixels to mask
//	.json            a list of pixels to mask
//
// [Read] reads any of them, for a detector of a given shape. A mask that fits only with rows and
// columns exchanged is transposed. [Write] writes HDF5, TIFF and NPY; for lists, there are [ReadList]
// and [WriteList].
//
//	m, err := maskfile.Read("mask.h5", maskfile.Settings{Height: 1813, Width: 1558})
//	if err != nil { ... } // names the file, and what to try
//	err = maskfile.Write("mask.tif", m, false)
//
// Reading a damaged or hostile file ends in an error, and allocates no more than a few times its size and that of the mask, which has at
// most Settings.MaxPixels pixels.
package maskfile
