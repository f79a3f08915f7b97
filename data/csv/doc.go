// Package csv reads and writes tables of g2: columns tau, g2 and, where known,
// g2_err and bin.
//
// A Table holds one row per delay and bin. The header is required and its
// order is free; names may carry a unit in brackets, as "tau (ms)". Lines that
// are blank or begin with # are skipped, but where the first line of numbers has no
// header before it, the last comment is taken for one, as numpy.savetxt writes it. NaN and empty cells become NaN: what
// they mean is for the caller to decide.
//
//	t, err := csv.Open("g2.csv")
//	if err != nil { ... }            // names file, line and column
//	for _, bin := range t.Bins() {
//		s := t.Select(bin)
//		fmt.Println(bin, s.Tau, s.G2, s.Err)    // s, 1, 1
//	}
package csv
