// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package formula has the commands for models that a problem file describes by a formula.
package formula
