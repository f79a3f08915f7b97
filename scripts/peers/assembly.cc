// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Operations of the assembly calculus by the C++ engine of
// https://github.com/dmitropolsky/assemblies, done on request as serve.py describes.
//
//   assembly project|explicit|merge|associate N K P BETA

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "brain.h"

namespace {

double Cpu() {
  rusage use;
  getrusage(RUSAGE_SELF, &use);
  return use.ru_utime.tv_sec + use.ru_stime.tv_sec + 1e-6 * (use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

struct Case {
  std::string operation;
  uint32_t n, k;
  float p, beta;
};

// Project forms an assembly in 25 steps.
void Project(const Case& c, uint32_t seed) {
  nemo::Brain brain(c.p, c.beta, 1e4, seed);
  brain.AddStimulus("S", c.k);
  brain.AddArea("A", c.n, c.k, true, c.operation == "explicit");
  brain.AddFiber("S", "A");
  brain.Project({{"S", {"A"}}}, 1);
  brain.Project({{"S", {"A"}}, {"A", {"A"}}}, 24);
}

// Merge forms two assemblies, and in 50 steps a third that projects back.
void Merge(const Case& c, uint32_t seed) {
  nemo::Brain brain(c.p, c.beta, 1e4, seed);
  for (const char* name : {"SA", "SB"}) brain.AddStimulus(name, c.k);
  for (const char* name : {"A", "B", "C"}) brain.AddArea(name, c.n, c.k);
  brain.AddFiber("SA", "A");
  brain.AddFiber("SB", "B");
  brain.AddFiber("A", "C", true);
  brain.AddFiber("B", "C", true);
  brain.Project({{"SA", {"A"}}}, 1);
  brain.Project({{"SB", {"B"}}}, 1);
  brain.Project({{"SA", {"A"}}, {"SB", {"B"}}, {"A", {"A", "C"}}, {"B", {"B", "C"}}}, 1);
  brain.Project({{"SA", {"A"}}, {"SB", {"B"}}, {"A", {"A", "C"}}, {"B", {"B", "C"}}, {"C", {"C", "A", "B"}}}, 49);
}

// Associate forms two assemblies, projects each into a third area, fires both together and probes the second: 50 steps.
void Associate(const Case& c, uint32_t seed) {
  nemo::Brain brain(c.p, c.beta, 1e4, seed);
  for (const char* name : {"SA", "SB"}) brain.AddStimulus(name, c.k);
  for (const char* name : {"A", "B", "C"}) brain.AddArea(name, c.n, c.k);
  brain.AddFiber("SA", "A");
  brain.AddFiber("SB", "B");
  brain.AddFiber("A", "C");
  brain.AddFiber("B", "C");
  const auto probe = [&brain] {
    brain.Project({{"SB", {"B"}}, {"B", {"B", "C"}}}, 1);
    brain.Project({{"SB", {"B"}}, {"B", {"B", "C"}}, {"C", {"C"}}}, 9);
  };
  brain.Project({{"SA", {"A"}}, {"SB", {"B"}}}, 1);
  brain.Project({{"SA", {"A"}}, {"SB", {"B"}}, {"A", {"A"}}, {"B", {"B"}}}, 9);
  brain.Project({{"SA", {"A"}}, {"A", {"A", "C"}}}, 1);
  brain.Project({{"SA", {"A"}}, {"A", {"A", "C"}}, {"C", {"C"}}}, 9);
  probe();
  brain.Project({{"SA", {"A"}}, {"SB", {"B"}}, {"A", {"A", "C"}}, {"B", {"B", "C"}}}, 1);
  brain.Project({{"SA", {"A"}}, {"SB", {"B"}}, {"A", {"A", "C"}}, {"B", {"B", "C"}}, {"C", {"C"}}}, 9);
  probe();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: assembly project|explicit|merge|associate N K P BETA\n");
    return 2;
  }
  const Case c{argv[1], static_cast<uint32_t>(std::atof(argv[2])), static_cast<uint32_t>(std::atof(argv[3])),
               static_cast<float>(std::atof(argv[4])), static_cast<float>(std::atof(argv[5]))};
  std::printf("{\"ready\": \"C++\"}\n");
  std::fflush(stdout);
  uint32_t seed = 0;
  for (int times; std::cin >> times;) {
    const auto start = std::chrono::steady_clock::now();
    const double begin = Cpu();
    for (int i = 0; i < times; ++i) {
      if (c.operation == "merge") {
        Merge(c, ++seed);
      } else if (c.operation == "associate") {
        Associate(c, ++seed);
      } else {
        Project(c, ++seed);
      }
    }
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    std::printf("{\"wall\": %.9g, \"cpu\": %.9g, \"units\": %d}\n", wall.count(), Cpu() - begin, times);
    std::fflush(stdout);
  }
}
