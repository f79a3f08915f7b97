// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/internal/given"
)

// Range is a run of consecutive items from one source.
type Range = Segment

// Task does the work of a command. Several goroutines call its methods at once.
type Task interface {
	// Columns returns the quantities that every result contains.
	Columns() []Column
	// Do processes the items of a range in any order and passes the result of each to put, which keeps
	// the record it is given. An error applies to all items of the range that have no result yet. When
	// ctx ends, Do returns soon; items without a result are processed another time.
	Do(ctx context.Context, items Range, put func(Record)) error
}

// attempt does a range once and returns the results. A panic is an error of its items; if they are
// several they are done again one by one. When ctx ends, items without a result stay so.
func attempt(ctx context.Context, t Task, items Range) (records []Record) {
	columns := t.Columns()
	have := make([]bool, items.Count)
	records = make([]Record, 0, items.Count)
	err := protected(func() error {
		return t.Do(ctx, items, func(r Record) {
			if r.Item < items.Item || r.Item >= items.Item+items.Count || have[r.Item-items.Item] {
				panic(fmt.Sprintf("batch: the task gave a result of item %d for items %d to %d, or gave it twice", r.Item, items.Item, items.Item+items.Count-1))
			}
			if err := r.check(columns); err != nil {
				panic("batch: " + err.Error())
			}
			have[r.Item-items.Item] = true
			records = append(records, r)
		})
	})
	var panicked *given.PanicError
	if errors.As(err, &panicked) {
		err = fmt.Errorf("%w\n%s", err, panicked.Report())
	}
	for i := items.Item; i < items.Item+items.Count && ctx.Err() == nil; i++ {
		switch {
		case have[i-items.Item]:
		case items.Count > 1 && panicked != nil:
			records = append(records, attempt(ctx, t, single([]Range{items}, i))...)
		case err != nil:
			records = append(records, Record{Item: i, Err: err.Error()})
		default:
			records = append(records, Record{Item: i, Err: "the task gave no result and no reason"})
		}
	}
	return records
}

// protected calls f, and makes an error of its panic.
func protected(f func() error) (err error) {
	defer given.Caught(&err)
	return f()
}
