// Package tensor holds n-dimensional arrays: their shapes, element types,
// strided views, files and random numbers.
package tensor
