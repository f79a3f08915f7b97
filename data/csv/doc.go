// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package csv reads and writes tables of g2. Their columns are tau, g2 and, where known, g2_err, bin,
// and the covariance of the points: cov_1 is the covariance of each row with the first row of its bin,
// cov_2 that with the second, and so on. The column samples gives the number of samples from which the
// covariance was estimated, and skew what their skewness takes from g2.
//
// The columns age, q and phi say of each row how old the sample was and where its bin lies.
//
// A Table holds one row per delay and bin. The header is required, with the columns in any order;
// names may have a unit in brackets, as in "tau (ms)". Lines that are blank or begin with # are
// skipped. If the first line of numbers has no header before it, the last comment is used as the
// header, which is how numpy.savetxt writes it. NaN and empty cells become NaN; their meaning is
// left to the caller.
//
//	t, err := csv.Open("g2.csv")
//	if err != nil { ... }            // names file, line and column
//	for _, bin := range t.Bins() {
//		s := t.Select(bin)
//		fmt.Println(bin, s.Tau, s.G2, s.Err)    // s, 1, 1
//	}
package csv
