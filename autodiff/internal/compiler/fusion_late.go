// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import "slices"

// postpone makes clusters part of later ones. A cluster joins the first one of its
// space that reads it if nothing else needs it until that has run: then what it
// makes need not be written to memory. So a residual that waits for a scale, which
// another cluster makes, is computed where it is scaled.
func postpone(jobs []*Job, order []*Value) []*Job {
	readers := readersOf(order)
	joined := map[*cluster][]*cluster{} // latest first
	for _, j := range slices.Backward(jobs) {
		if c := j.cluster; c != nil {
			if host := c.host(readers[c]); host != nil {
				for _, v := range c.values {
					v.Place.cluster, v.Place.stage = host, host.stage
				}
				joined[host] = append(joined[host], c)
				j.cluster = nil
			}
		}
	}
	for host, parts := range joined {
		own := host.values
		host.values = nil
		for _, c := range slices.Backward(parts) {
			host.values = append(host.values, c.values...)
		}
		host.values = append(host.values, own...)
	}
	return slices.DeleteFunc(jobs, func(j *Job) bool { return j.cluster == nil && j.Step == nil })
}

// readersOf lists, for each cluster, the values outside that must wait for it.
func readersOf(order []*Value) map[*cluster][]*Value {
	readers := map[*cluster][]*Value{}
	for _, v := range order {
		if v.Op == nil || v.kindIs(View) || v.kindIs(Barrier) {
			continue
		}
		for _, x := range v.In {
			for _, needed := range []*Value{x, x.Layout.after} {
				if needed == nil {
					continue
				}
				if c := needed.Layout.Root.Place.cluster; c != nil && c != v.Place.cluster {
					readers[c] = append(readers[c], v)
				}
			}
		}
	}
	return readers
}

// host returns the cluster that c may join, given the values outside that need it.
func (c *cluster) host(readers []*Value) *cluster {
	if len(readers) == 0 {
		return nil
	}
	first := slices.MinFunc(readers, func(a, b *Value) int { return a.Place.stage - b.Place.stage })
	host := first.Place.cluster
	if host == nil || !host.space.Equal(c.space) {
		return nil
	}
	for _, v := range readers {
		if v.Place.cluster == host && !v.readsInOrder(c) || v.Place.cluster != host && v.Place.stage <= host.stage {
			return nil
		}
	}
	return host
}

// readsInOrder reports whether v could read what c makes tile by tile.
func (v *Value) readsInOrder(c *cluster) bool {
	return !slices.ContainsFunc(v.In, func(x *Value) bool {
		after := x.Layout.after
		return x.Layout.Root.Place.cluster == c && !sameCluster(v, x, c.space) ||
			after != nil && after.Layout.Root.Place.cluster == c
	})
}
