package runs

import (
	"context"
	"time"
)

// LongestPause is the most time between two attempts to write.
const LongestPause = 5 * time.Second

// Patiently saves a run, if need be again and again for as long as patience lasts, as while
// a disk is full, and tells of every failure. The end of the context ends the attempts. It
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
		if wait <= 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}
