// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import "github.com/euryale-dev/euryale/infer/internal/warmup"

// MetricKind says what warm-up learns about the shape of the posterior.
type MetricKind = warmup.MetricKind

const (
	// LowRank learns a scale per parameter and a few correlated directions from
	// draws and gradients. It is the default, because it needed fewer gradients
	// for an independent draw than the others on nearly every posterior that was
	// tried, and its cost per step is linear in the dimension.
	LowRank = warmup.LowRank
	// DiagFisher learns a scale per parameter from draws and gradients. It can
	// fall behind DiagVariance under strong correlation.
	DiagFisher = warmup.DiagFisher
	// DiagVariance learns the variance of each parameter, as Stan does.
	DiagVariance = warmup.DiagVariance
	// DenseVariance learns the full covariance; a step costs the square of the
	// dimension.
	DenseVariance = warmup.DenseVariance
	// BlockVariance learns the covariance inside each of Settings.Blocks and
	// variances elsewhere.
	BlockVariance = warmup.BlockVariance
	// FixedMetric keeps Settings.StartMetric, or the identity.
	FixedMetric = warmup.FixedMetric
)

// Schedule says when warm-up learns what.
type Schedule = warmup.Schedule

const (
	// FisherSchedule replaces the metric often from the start, in overlapping
	// windows that grow, and freezes it for the last 15 %. The default: gradients
	// make a metric useful after ten draws.
	FisherSchedule = warmup.FisherSchedule
	// StanSchedule is Stan's: a fast start, windows that double, a fast end; the
	// step size is searched anew after each window.
	StanSchedule = warmup.StanSchedule
)

// Statistic is an acceptance statistic that the step size is adapted to.
type Statistic = warmup.Statistic

const (
	// Symmetric is the mean over leaves of 2 min(1, e^D)/(1 + e^D), D = H0 - H.
	// It is the default, because the rate in sampling comes out as the target.
	Symmetric = warmup.Symmetric
	// Metropolis is the mean of min(1, e^D), as in Stan. With a target of 0.8 the
	// rate in sampling comes out between 0.87 and 0.95, so the steps are smaller
	// than they need to be.
	Metropolis = warmup.Metropolis
)
