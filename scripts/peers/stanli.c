// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Gradients of Stan programs by stanli (https://pypi.org/project/stanli), in a loop in C. BenchmarkPeerPosteriorDB of models/stan compiles
// this and runs it:
//
//   stanli LIBSTANLI.SO PROGRAM.stan DATA.json
//
// It writes "DIM SECONDS", the time from the source to a model. Then it reads requests: "p K" with K points, which it answers with the log
// density and the gradient of each, and "t SECONDS", which it answers with the seconds that a gradient takes, going round the points.

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static char *text(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) exit(66);
  fseek(f, 0, SEEK_END);
  long n = ftell(f);
  rewind(f);
  char *s = calloc(n + 1, 1);
  if (fread(s, 1, n, f) != (size_t)n) exit(66);
  return s;
}

struct options {
  uint32_t seed;
  int threads, fast;
};

int main(int argc, char **argv) {
  void *lib = argc == 4 ? dlopen(argv[1], RTLD_NOW) : 0;
  if (!lib) return fprintf(stderr, "stanli: %s\n", argc == 4 ? dlerror() : "want three arguments"), 64;
  void *(*make)(const char *, const char *, struct options *, char *, size_t) = dlsym(lib, "stanli_model_new_from_stan_with_opts");
  int64_t (*size)(void *) = dlsym(lib, "stanli_n_unconstrained");
  int (*grad)(void *, const double *, double *, double *) = dlsym(lib, "stanli_grad");
  char *program = text(argv[2]), *data = text(argv[3]), fault[8192] = "";
  struct options o = {1, 1, 0};
  double begin = now();
  void *m = make(program, data, &o, fault, sizeof fault);
  if (!m) return fprintf(stderr, "stanli: %s\n", fault), 1;
  int64_t dim = size(m);
  double *g = calloc(dim + 1, sizeof *g), *u = calloc(dim + 1, sizeof *u), lp, seconds;
  grad(m, u, &lp, g);
  printf("%ld %.6f\n", (long)dim, now() - begin);
  fflush(stdout);
  int k = 1;
  char request[2];
  while (scanf("%1s", request) == 1) {
    if (request[0] == 'p') {
      if (scanf("%d", &k) != 1) return 1;
      u = realloc(u, (k * dim + 1) * sizeof *u);
      for (int64_t i = 0; i < k * dim; i++)
        if (scanf("%lf", u + i) != 1) return 1;
      for (int j = 0; j < k; j++) {
        if (grad(m, u + j * dim, &lp, g)) lp = 0.0 / 0.0;
        printf("%.17g", lp);
        for (int64_t i = 0; i < dim; i++) printf(" %.17g", g[i]);
        printf("\n");
      }
    } else {
      if (scanf("%lf", &seconds) != 1) return 1;
      double start = now(), spent = 0;
      long n = 0;
      for (long batch = 1; spent < seconds; batch *= 2) {
        for (long i = 0; i < batch; i++, n++) grad(m, u + (n % k) * dim, &lp, g);
        spent = now() - start;
      }
      printf("%.9g\n", spent / n);
    }
    fflush(stdout);
  }
  return 0;
}
