package cuda

import "fmt"

// line makes a kernel in which a thread walks each line along the axis. before stands before the
// walk, each runs at every element: at is its position.
func line(s *Step, reverse bool, before, each string) {
	outer, inner, n := Around(s.Value.Shape, s.Attr[0])
	step, start := inner, 0
	if reverse {
		step, start = -inner, (n-1)*inner
	}
	s.Lines(outer*inner, fmt.Sprintf(`		index_t at = i / %[1]s * %[2]s + i %% %[1]s + %[3]s;
%[4]s
		for (index_t t = 0; t < %[5]s; t++, at += %[6]s) {
%[7]s
		}`, number(inner), number(inner*n), number(start), before, number(n), number(step), each))
}

// Cumsum sums along an axis: attributes say the axis, whether the element itself is left out, and
// whether it goes backwards.
func Cumsum(s *Step) bool {
	s.Converts()
	each := "\t\tsum += in0[at];\n\t\tout[at] = (R)sum;"
	if s.Attr[1] == 1 {
		each = "\t\tdouble v = in0[at];\n\t\tout[at] = (R)sum;\n\t\tsum += v;"
	}
	line(s, s.Attr[2] == 1, "\t\tdouble sum = 0.0;", each)
	return true
}

// Cumprod multiplies along an axis.
func Cumprod(s *Step) bool {
	line(s, false, "\t\tdouble p = 1.0;", "\t\tp *= in0[at];\n\t\tout[at] = (R)p;")
	return true
}

// LogCumsumExp is the logarithm of the sum of exponentials so far.
func LogCumsumExp(s *Step) bool {
	line(s, false, "\t\tdouble top = -INFINITY, sum = 0.0;", `		double v = in0[at];
		if (t == 0) { top = v; sum = 1.0; }
		else if (v == top) sum += 1.0;
		else if (v < top) sum += exp(v - top);
		else { sum = sum * exp(top - v) + 1.0; top = v; }
		out[at] = (R)(isinf(top) && top < 0.0 ? top : top + log(sum));`)
	return true
}

// LinearScan is h_t = a_t h_(t-1) + b_t along an axis.
func LinearScan(s *Step) bool {
	s.Converts()
	first := "0.0"
	if len(s.Value.In) > 2 {
		first = "in2[i]"
	}
	line(s, s.Attr[1] == 1, "\t\tdouble h = "+first+";", "\t\th = (double)in0[at] * h + in1[at];\n\t\tout[at] = (R)h;")
	return true
}

// Delay moves elements by one along an axis.
func Delay(s *Step) bool {
	line(s, s.Attr[1] == 1, "\t\tR last = in1[i];", "\t\tR v = in0[at];\n\t\tout[at] = last;\n\t\tlast = v;")
	return true
}
