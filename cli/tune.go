// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "time"

// pictureDPI is the resolution of the PNG files of reports in dots per inch, 0 for the default.
// Tests draw coarse pictures, which takes a tenth of the time.
var pictureDPI int

// patience is how long to keep trying to write the last checkpoint of a run, for example
// while a disk is full.
var patience = time.Minute
