// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	extension = regexp.MustCompile(`(?i)(_results)?\.(hdf|hdf5|h5)$`)
	zeros     = regexp.MustCompile(`(_[A-Za-z])0+(\d)`)
)

// FileID shortens the name of a result file: it removes the ending "_results.hdf" and the leading
// zeros of numbers such as _t0600. A style such as "0_2_4" keeps only those of the fields between
// underscores, counted from 0; fields that do not exist are left out.
func FileID(name, style string) string {
	id := zeros.ReplaceAllString(extension.ReplaceAllString(name, ""), "$1$2")
	if style == "" {
		return id
	}
	fields := strings.Split(id, "_")
	var kept []string
	for s := range strings.SplitSeq(style, "_") {
		if i, err := strconv.Atoi(s); err == nil && i >= 0 && i < len(fields) {
			kept = append(kept, fields[i])
		}
	}
	if len(kept) == 0 {
		return id
	}
	return strings.Join(kept, "_")
}
