// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package xpcs has the commands for photon correlation: from the frames of a detector to q maps, masks, correlations, fits and
// posteriors, and two-time correlations of samples that move.
package xpcs
