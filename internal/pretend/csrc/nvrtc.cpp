// The run-time compiler: g++ behind the functions of NVRTC. An image stands for both cubin and PTX.
#include "state.h"
#include <cstdio>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

struct Header { char magic[8]; uint32_t arch, ptx; uint64_t bytes; };
struct Program {
  std::string source, name, log{}, image{}, ptx{};
  std::map<std::string, std::string> headers{};
};

std::string library_folder() {
  Dl_info i;
  std::string path = dladdr((void *)library_folder, &i) ? i.dli_fname : ".";
  return path.substr(0, path.rfind('/'));
}

static std::string hash(const std::string &s) {
  uint64_t a = 0xcbf29ce484222325ull, b = 0x9e3779b97f4a7c15ull;
  for (unsigned char c : s) {
    a = (a ^ c) * 0x100000001b3ull;
    b = (b + c) * 0xff51afd7ed558ccdull;
    b ^= b >> 29;
  }
  char t[40];
  snprintf(t, sizeof t, "%016llx%016llx", (unsigned long long)a, (unsigned long long)b);
  return t;
}

static std::string contents(const std::string &path) {
  std::ifstream f(path, std::ios::binary);
  std::stringstream s;
  s << f.rdbuf();
  return s.str();
}

static bool word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// kernel_names finds the functions behind __global__: the name before the list of parameters, which
// is the first parenthesis that is not an attribute's.
static std::vector<std::string> kernel_names(const std::string &s) {
  std::vector<std::string> names;
  for (size_t at = 0; (at = s.find("__global__", at)) != std::string::npos;) {
    at += 10;
    for (size_t p = s.find('(', at); p != std::string::npos; p = s.find('(', s.find(')', p))) {
      size_t end = p;
      while (end > at && isspace((unsigned char)s[end - 1])) end--;
      size_t begin = end;
      while (begin > at && word(s[begin - 1])) begin--;
      std::string name = s.substr(begin, end - begin);
      if (name == "__launch_bounds__") continue;
      if (!name.empty()) names.push_back(name);
      break;
    }
  }
  return names;
}

// compile makes a shared library of a program, or finds it in the folder of earlier ones.
static int compile(Program *p, int arch) {
  std::string folder = library_folder(), text = std::string(driver.tracing ? "#define EMU_TRACE 1\n" : "") + "#include \"emu.h\"\n#define __CUDA_ARCH__ " + std::to_string(arch * 10) + "\n", all = p->source;
  for (auto &h : p->headers) {
    // An included header is text before the program; its own line is then empty.
    text += "#line 1 \"" + h.first + "\"\n" + h.second + "\n";
    all += h.second;
  }
  bool cooperates = all.find("__sync") != std::string::npos || all.find("_sync(") != std::string::npos;
  text += "#line 1 \"" + p->name + "\"\n";
  std::istringstream lines(p->source);
  for (std::string line; std::getline(lines, line);) {
    bool ours = line.rfind("#include", 0) == 0;
    text += (ours ? "" : line) + "\n";
  }
  text += "#line 1 \"registration\"\n";
  for (auto &n : kernel_names(p->source)) text += "EMU_KERNEL(" + n + ", " + (cooperates ? "true" : "false") + ")\n";
  std::string key = folder + "/kernel-" + hash(text + contents(folder + "/emu.h") + contents(folder + "/emu_types.h")), so = key + ".so";
  if (access(so.c_str(), R_OK)) {
    driver.compiles++;
    std::string mine = key + "-" + std::to_string(getpid()), source = mine + ".cpp";
    std::ofstream(source) << text;
    // Long programs, and those with long headers, take longer to optimise than to run.
    std::string command = std::string("g++ ") + (text.size() > 20000 ? "-O0" : "-O1") + (driver.tracing ? " -fsanitize=thread -fno-exceptions" : "") + " @" + folder + "/kernel.flags -shared -nostdlib -I" + folder + " " + source + " -lm -lc -lgcc -o " + mine + ".so 2>&1";
    FILE *out = popen(command.c_str(), "r");
    if (!out) return 11;
    char buffer[512];
    while (fgets(buffer, sizeof buffer, out)) p->log += buffer;
    int status = pclose(out);
    unlink(source.c_str());
    if (status) return unlink((mine + ".so").c_str()), 6;
    if (rename((mine + ".so").c_str(), so.c_str())) return 11;
  }
  std::string library = contents(so);
  Header h = {"PRETEND", (uint32_t)arch, 0, library.size()};
  p->image = std::string((char *)&h, sizeof h) + library;
  h.ptx = 1;
  p->ptx = std::string((char *)&h, sizeof h) + library;
  return 0;
}

static const int architectures[] = {75, 80, 86, 89, 90, 100};

struct NvrtcEntry {
  std::lock_guard<std::recursive_mutex> lock;
  explicit NvrtcEntry(const char *name) : lock(driver.mutex) { driver.calls[name]++; }
};

EXPORT int nvrtcVersion(int *major, int *minor) { return *major = 12, *minor = 9, 0; }
EXPORT const char *nvrtcGetErrorString(int e) {
  return e == 0 ? "NVRTC_SUCCESS" : e == 5 ? "NVRTC_ERROR_INVALID_OPTION" : e == 6 ? "NVRTC_ERROR_COMPILATION" : e == 4 ? "NVRTC_ERROR_INVALID_PROGRAM" : "NVRTC_ERROR_INTERNAL_ERROR";
}
EXPORT int nvrtcGetNumSupportedArchs(int *n) { return *n = sizeof architectures / sizeof *architectures, 0; }
EXPORT int nvrtcGetSupportedArchs(int *a) { return memcpy(a, architectures, sizeof architectures), 0; }
EXPORT int nvrtcCreateProgram(Program **p, const char *source, const char *name, int n, const char **headers, const char **names) {
  NvrtcEntry entry("nvrtcCreateProgram");
  *p = new Program{source, name ? name : "default_program"};
  for (int i = 0; i < n; i++) (*p)->headers[names[i]] = headers[i];
  return 0;
}
EXPORT int nvrtcCompileProgram(Program *p, int n, const char **options) {
  NvrtcEntry entry("nvrtcCompileProgram");
  int arch = 75;
  for (int i = 0; i < n; i++) {
    std::string o = options[i];
    size_t digits = o.find_last_not_of("0123456789");
    if (o.rfind("--gpu-architecture=", 0) == 0) arch = atoi(o.c_str() + digits + 1);
    else if (o.rfind("--std=", 0) && o.rfind("--fmad=", 0) && o != "--minimal" && o.rfind("-D", 0) && o.rfind("--define-macro", 0)) {
      p->log = "nvrtc: error: unrecognized option " + o + "\n";
      return 5;
    }
  }
  bool known = false;
  for (int a : architectures) known = known || a == arch;
  if (!known) {
    p->log = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
    return 5;
  }
  return compile(p, arch);
}
static int get(const std::string &s, char *b) { return memcpy(b, s.data(), s.size()), 0; }
EXPORT int nvrtcGetProgramLogSize(Program *p, size_t *n) { return *n = p->log.size() + 1, 0; }
EXPORT int nvrtcGetProgramLog(Program *p, char *b) { return memcpy(b, p->log.c_str(), p->log.size() + 1), 0; }
EXPORT int nvrtcGetCUBINSize(Program *p, size_t *n) { return *n = p->image.size(), 0; }
EXPORT int nvrtcGetCUBIN(Program *p, char *b) { return get(p->image, b); }
EXPORT int nvrtcGetPTXSize(Program *p, size_t *n) { return *n = p->ptx.size(), 0; }
EXPORT int nvrtcGetPTX(Program *p, char *b) { return get(p->ptx, b); }
EXPORT int nvrtcDestroyProgram(Program **p) { return delete *p, *p = nullptr, 0; }
