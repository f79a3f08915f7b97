// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package rsoxs has the commands for resonant soft X-ray scattering: simulation, reduction and inversion.
package rsoxs
