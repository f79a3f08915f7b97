// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"bytes"
	"testing"
	"time"
)

// Without a terminal a wait is silent at first, and then writes what is under way and for how long, now and then.
func TestWaitSaysWhatIsUnderWay(t *testing.T) {
	var b bytes.Buffer
	now := time.Unix(0, 0)
	w := NewWait(&b, "searching", WaitSettings{Settings: Settings{Mode: Lines}, now: func() time.Time { return now }, tick: make(chan time.Time)})
	for _, step := range []struct {
		at    time.Duration
		stage string
		share float64
	}{{500 * time.Millisecond, "searching", -1}, {2 * time.Second, "searching", -1}, {3 * time.Second, "judging", 0.2}, {8 * time.Second, "judging", 0.55}} {
		w.Stage(step.stage, step.share)
		w.tell(now.Add(step.at))
	}
	w.Close()
	w.Close()
	if want := "searching  0:02\njudging  55 %  0:08\n"; b.String() != want {
		t.Errorf("%q, want %q", &b, want)
	}
	b.Reset()
	quiet := NewWait(&b, "searching", WaitSettings{Settings: Settings{Mode: Quiet}, now: func() time.Time { return now }, tick: make(chan time.Time)})
	quiet.tell(now.Add(time.Minute))
	quiet.Close()
	if b.Len() > 0 {
		t.Errorf("a quiet wait writes %q", &b)
	}
}
