// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package marquardt holds the rules that all Levenberg-Marquardt iterations share: how the
// radius of the trust region changes (rules.go), and when and how a fit ends (status.go).
package marquardt
