// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cuda

import "time"

func pause(d time.Duration) { time.Sleep(d) }
