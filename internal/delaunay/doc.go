// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package delaunay triangulates points in any number of dimensions.
//
// A Delaunay triangulation is the lower part of the convex hull of the points lifted to a paraboloid,
// which New finds by the beneath-beyond method with lists of conflicts (quickhull: Barber, Dobkin and
// Huhdanpaa 1996, doi:10.1145/235815.235821). On which side of a facet a point lies is decided in
// floating point where rounding cannot change the answer, and in integers of any length elsewhere: the
// result is a triangulation for every input, also one with many points on one sphere.
package delaunay
