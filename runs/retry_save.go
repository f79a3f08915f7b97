// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"context"
	"time"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// LongestPause is the longest pause between two attempts to write.
const LongestPause = 5 * time.Second

// Patiently saves a run, retrying for as long as patience lasts, for example while a disk
// is full. It calls failing after every failure. It also stops when the context ends, and
// returns the last error.
func Patiently(ctx context.Context, patience time.Duration, save func() error, failing func(error)) error {
	deadline := time.Now().Add(patience)
	for {
		err := save()
		if err == nil {
			return nil
		}
		failing(err)
		wait := min(LongestPause, patience/12, time.Until(deadline))
		if wait <= 0 || atomicfile.Lasts(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}
