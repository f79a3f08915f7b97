// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package tune has the settings of the command line that tests make smaller or shorter.
package tune
