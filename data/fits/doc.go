// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package fits reads and writes FITS files, the format of astronomical images and tables.
//
// A File holds HDUs, each of which is a Header with an Image or a Table. Images and tables are read
// lazily, all at once or a range of rows at a time; compressed files (.fits.gz) and compressed images
// (.fits.fz) read like any other. A Writer makes files that astropy and CFITSIO open, with checksums.
//
//	f, err := fits.Open("coadd.fits")
//	if err != nil { ... }
//	defer f.Close()
//	flux, err := f.Image("B_FLUX")          // errors name the file and the nearest extensions
//	rows, err := flux.Slice(100, 110).Float32s()
//	table, err := f.Table("FIBERMAP")
//	column, err := table.Column("TARGETID")
//	ids, err := column.Int64s()
//
// Shapes are in C order: the last axis is the fastest, which FITS calls NAXIS1.
//
// The package does not read images compressed with PLIO or HCOMPRESS, compressed tables (ZTABLE) and
// random groups; they give errors that match ErrUnsupported.
//
// Reading a damaged or hostile file ends in a *FormatError. Reading data that are stored uncompressed
// takes memory in proportion to the bytes that are present. Decompressed data and lists of variable
// length take at most File.MaxBytes in one call.
//
// Reference: FITS Standard, version 4.0 (2018), https://fits.gsfc.nasa.gov/fits_standard.html.
package fits
