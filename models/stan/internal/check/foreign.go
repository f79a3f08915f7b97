// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

// foreign says what stands in Stan for names of other languages that are not spelt almost like it.
var foreign = map[string]string{
	"dnorm": "normal(mean, sd), whose second argument is the standard deviation and not the precision of JAGS", "dunif": "uniform", "dgamma": "gamma", "dbeta": "beta", "dbern": "bernoulli",
	"dbin": "binomial(n, p), with the number of trials first", "dpois": "poisson", "dexp": "exponential", "dt": "student_t(nu, mu, sigma)", "dlnorm": "lognormal", "dcat": "categorical",
	"dmnorm": "multi_normal, which takes the covariance and not the precision", "ddexp": "double_exponential",
	"half_normal": "normal, with <lower=0> in the declaration of the parameter", "half_cauchy": "cauchy, with <lower=0> in the declaration of the parameter", "HalfNormal": "normal, with <lower=0> in the declaration of the parameter",
	"HalfCauchy": "cauchy, with <lower=0> in the declaration of the parameter", "half_student_t": "student_t, with <lower=0> in the declaration of the parameter", "StudentT": "student_t(nu, mu, sigma)",
	"NegativeBinomial": "neg_binomial_2(mu, phi)", "LKJCholeskyCov": "lkj_corr_cholesky", "MvNormal": "multi_normal", "flat": "no statement: a parameter without one is flat", "Flat": "no statement: a parameter without one is flat",
	"range": "for (i in 1:n)", "seq": "a range such as 1:n", "c": "{x, y} for an array, or [x, y]' for a vector", "len": "size", "length": "size or num_elements", "nrow": "rows", "ncol": "cols",
	"expit": "inv_logit", "sigmoid": "inv_logit", "plogis": "inv_logit", "qlogis": "logit", "pnorm": "Phi or normal_cdf", "qnorm": "inv_Phi", "gammaln": "lgamma", "lfactorial": "lgamma(n + 1)", "dot": "dot_product", "matmul": "the operator *",
	"logsumexp": "log_sum_exp", "where": "condition ? x : y", "ifelse": "condition ? x : y", "concatenate": "append_row, append_col or append_array", "zeros": "rep_vector(0, n)", "ones": "rep_vector(1, n)", "eye": "identity_matrix(n)",
	"transpose": "the operator '", "cholesky": "cholesky_decompose", "chol": "cholesky_decompose, which is lower triangular", "solve": "the operator \\ or mdivide_left", "det": "determinant", "power": "x^y or pow", "ln": "log", "abs2": "square",
	"TRUE": "1", "FALSE": "0", "True": "1", "False": "0", "true": "1", "false": "0", "None": "no value: every variable has one", "NULL": "no value: every variable has one", "NA": "a parameter for what is missing", "Inf": "positive_infinity()", "inf": "positive_infinity()",
	"nan": "not_a_number()", "NaN": "not_a_number()",
}

// instead says what to write for a name of another language; "" for other names.
func instead(name string) string {
	if to := foreign[name]; to != "" {
		return " In Stan this is " + to + "."
	}
	return ""
}
