// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

// What tests outside the package take from it.
type AgesDoc = agesDoc
type Arrival = arrival
type ConfigDoc = configDoc
type CorrelateDoc = correlateDoc
type CorrelateFlags = correlateFlags
type CorrelatedDoc = correlatedDoc
type FitDoc = fitDoc
type FitsDoc = fitsDoc
type GeometryDoc = geometryDoc
type IntensityDoc = intensityDoc
type MaskDoc = maskDoc
type MotionFitDoc = motionFitDoc
type MotionPosteriorDoc = motionPosteriorDoc
type QmapDoc = qmapDoc
type SpectralDoc = spectralDoc

var Arrived = arrived
var PickBins = pickBins
var There = there
