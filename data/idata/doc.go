// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package idata reads and writes draws as JSON: an object of groups, each an object of
// variables, each a nested list, as ArviZ's from_dict takes it.
//
//	{"posterior": {"mu": [[0.1, 0.2], [0.3, 0.4]]}, "observed_data": {"y": [1.5]}}
//
// In Python:
//
//	groups = {g: {k: numpy.array(x) for k, x in v.items()} for g, v in json.load(open("run.json")).items()}
//	idata = arviz.from_dict(groups)      # ArviZ 1; in 0.x from_dict(**groups)
//
// Non-finite numbers are written as the bare words NaN, Infinity and -Infinity, which Python's json
// module writes and reads although the standard has no such words. Settings.Strict writes them as
// strings, which other programs can read. Reading accepts both, and null for NaN. Text variables
// consisting only of such words are therefore read as numbers. Floats keep a point or an exponent,
// which tells them from integers.
//
// The format has no room for the names and labels of axes. Reading names the first two
// axes chain and draw, except in data groups, and the others theta_dim_0 and so on, as
// ArviZ does. Settings.Labels adds coords, dims and attributes in the form written by
// to_json of ArviZ 0 and read by its from_json.
package idata
