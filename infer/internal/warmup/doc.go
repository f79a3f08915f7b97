// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package warmup adapts what Hamiltonian Monte Carlo needs to know of a posterior: the
// step size by dual averaging (dual_averaging.go), and the metric from draws and gradients
// (metric_estimate.go and its kin) in windows (schedule.go). An Adapter does it for one
// chain (adapt.go).
package warmup
