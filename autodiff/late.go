package autodiff

import "slices"

// postpone makes clusters part of later ones. A cluster joins the first one of its
// space that reads it if nothing else needs it until that has run: then what it
// makes need not be written to memory. So a residual that waits for a scale, which
// another cluster makes, is computed where it is scaled.
func postpone(jobs []*job, order []*value) []*job {
	readers := readersOf(order)
	joined := map[*cluster][]*cluster{} // latest first
	for _, j := range slices.Backward(jobs) {
		if c := j.cluster; c != nil {
			if host := c.host(readers[c]); host != nil {
				for _, v := range c.values {
					v.place.cluster, v.place.stage = host, host.stage
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
	return slices.DeleteFunc(jobs, func(j *job) bool { return j.cluster == nil && j.step == nil })
}

// readersOf lists, for each cluster, the values outside that must wait for it.
func readersOf(order []*value) map[*cluster][]*value {
	readers := map[*cluster][]*value{}
	for _, v := range order {
		if v.op == nil || v.kindIs(view) || v.kindIs(barrier) {
			continue
		}
		for _, x := range v.in {
			for _, needed := range []*value{x, x.layout.after} {
				if needed == nil {
					continue
				}
				if c := needed.layout.root.place.cluster; c != nil && c != v.place.cluster {
					readers[c] = append(readers[c], v)
				}
			}
		}
	}
	return readers
}

// host returns the cluster that c may join, given the values outside that need it.
func (c *cluster) host(readers []*value) *cluster {
	if len(readers) == 0 {
		return nil
	}
	first := slices.MinFunc(readers, func(a, b *value) int { return a.place.stage - b.place.stage })
	host := first.place.cluster
	if host == nil || !host.space.Equal(c.space) {
		return nil
	}
	for _, v := range readers {
		if v.place.cluster == host && !v.readsInOrder(c) || v.place.cluster != host && v.place.stage <= host.stage {
			return nil
		}
	}
	return host
}

// readsInOrder reports whether v could read what c makes tile by tile.
func (v *value) readsInOrder(c *cluster) bool {
	return !slices.ContainsFunc(v.in, func(x *value) bool {
		after := x.layout.after
		return x.layout.root.place.cluster == c && !sameCluster(v, x, c.space) ||
			after != nil && after.layout.root.place.cluster == c
	})
}
