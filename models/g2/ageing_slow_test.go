// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package g2

const ageingMovies = 1000
