// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

// MetricKind says what is learned about the shape of the posterior; package infer
// documents the kinds.
type MetricKind int

// The kinds of metrics.
const (
	LowRank MetricKind = iota
	DiagFisher
	DiagVariance
	DenseVariance
	BlockVariance
	FixedMetric
)

// Schedule says when what is learned.
type Schedule int

// The schedules.
const (
	FisherSchedule Schedule = iota
	StanSchedule
)

// Statistic is what the step size is adapted to.
type Statistic int

// The statistics.
const (
	Symmetric Statistic = iota
	Metropolis
)
