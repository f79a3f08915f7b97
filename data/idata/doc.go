// Package idata reads and writes draws as JSON: an object of groups, each an
// object of variables, each nested lists, as ArviZ's from_dict takes it.
//
//	{"posterior": {"mu": [[0.1, 0.2], [0.3, 0.4]]}, "observed_data": {"y": [1.5]}}
//
// In Python:
//
//	groups = {g: {k: numpy.array(x) for k, x in v.items()} for g, v in json.load(open("run.json")).items()}
//	idata = arviz.from_dict(groups)      # ArviZ 1; in 0.x from_dict(**groups)
//
// Numbers that are not finite are the bare words NaN, Infinity and -Infinity,
// which Python's json writes and reads though the standard lacks them;
// Settings.Strict makes them strings, which other programs read. Reading takes
// both, and null for NaN; text that consists of such words only reads as numbers. Floats keep a point or an exponent, so that they are
// told from integers.
//
// The names of axes and their labels do not fit into this form: reading names
// the first two axes chain and draw, in groups other than the data, and the
// others as ArviZ does, theta_dim_0. Settings.Labels adds coords, dims and
// attributes in the form of ArviZ 0's to_json, which its from_json reads.
package idata
