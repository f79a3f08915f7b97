// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// A disk that is full for a while delays the last checkpoint; one that stays full is
// named, and the checkpoint before is whole.
func TestFullDisk(t *testing.T) {
	target := Func(2, func(q, g []float64) float64 {
		g[0], g[1] = -q[0], -q[1]
		return -(q[0]*q[0] + q[1]*q[1]) / 2
	})
	for _, stays := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "checkpoint")
		told, writes := 0, 0
		restore := atomicfile.Inject(func(op, _ string) error {
			if op != "sync" { // once for each file
				return nil
			}
			if writes++; writes > 1 && (stays || told < 2) { // the first, before the chains begin, goes well
				return syscall.ENOSPC
			}
			return nil
		})
		cfg := Settings{Chains: 1, Warmup: 50, Draws: 50, Seed: 1, Checkpoint: Checkpoint{Path: path, Every: time.Hour, Patience: 12 * time.Second, Failing: func(error) { told++ }}}
		if stays {
			cfg.Checkpoint.Patience = -1
		}
		_, err := Sample(context.Background(), target, cfg)
		restore()
		if !stays && (err != nil || told != 2) {
			t.Errorf("full for a while: %v, told %d times", err, told)
		}
		if stays && (!errors.Is(err, ErrNotSaved) || !errors.Is(err, syscall.ENOSPC) || told != 1) {
			t.Errorf("full: %v, told %d times", err, told)
		}
		cfg.Resume, cfg.Checkpoint.Failing = path, nil
		if fit, err := Sample(context.Background(), target, cfg); err != nil || fit.Len(0) != 50 {
			t.Errorf("resumed: %v", err)
		}
	}
}
