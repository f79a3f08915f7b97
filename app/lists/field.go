// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lists

import "github.com/euryale-dev/euryale/app/frame"

// Field is the work with lists.
func Field() frame.Field {
	return frame.Field{Commands: []frame.Command{{New: batchCommand, Takes: frame.TakesOut}}}
}
