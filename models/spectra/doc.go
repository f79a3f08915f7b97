// Package spectra fits stellar spectra with templates: libraries of template spectra and their
// interpolators, first guesses by cross-correlation, fits of many stars at a time, and posteriors.
//
// A Library has templates for every arm of an instrument. Templates.LogFlux builds a graph from the
// parameters of stars to the logarithm of their spectra, on which package sim/spectra builds the
// likelihood.
//
// Wavelengths are in Angstrom, velocities in km/s, effective temperatures in K, gravities and abundances in
// dex.
package spectra
