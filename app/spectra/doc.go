// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package spectra has the commands for stellar spectra: fits, posteriors, and the making and training of template libraries.
package spectra
