// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package constants makes optical constants from absorption spectra: delta from beta by the relations of Kramers and Kronig, and constants
// along and across the director from spectra at several angles.
//
//	delta, err := constants.KramersKronig(energies, beta, energies, constants.Continuation{})
//
// The refractive index is n = 1 - delta + i beta. Energies are in eV, angles in radians.
package constants

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
