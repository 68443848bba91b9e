// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "cli/options.h"
#include "load/inputs.h"

namespace inferdiff {
namespace {

struct FormatInfo {
  Format format;
  std::string_view name;
  std::string_view ending;
};
constexpr FormatInfo kFormats[] = {{Format::kTerminal, "terminal", ".txt"},
                                   {Format::kMarkdown, "markdown", ".md"},
                                   {Format::kJson, "json", ".json"},
                                   {Format::kTsv, "tsv", ".tsv"},
                                   {Format::kHtml, "html", ".html"},
                                   {Format::kPerfetto, "perfetto", ".pftrace"},
                                   {Format::kLedger, "", ".ledger"},
                                   {Format::kTrace, "", ""}};

// What a signal handler has to remove: it may not allocate or lock.
constexpr size_t kMaxFiles = 16;
std::array<std::atomic<const char*>, kMaxFiles> g_unfinished{};

extern "C" void RemoveUnfinished(int signal_number) {
  for (const auto& path : g_unfinished)
    if (const char* name = path.load()) unlink(name);
  // SA_RESETHAND restored the default: the shell sees what ended us.
  raise(signal_number);
}

void CatchSignals() {
  struct sigaction action = {};
  action.sa_handler = RemoveUnfinished;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    sigaction(number, &action, nullptr);
}

[[noreturn]] void FailWrite(const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EIO;
  throw InputError(
      "cannot-write", path,
      fmt::format("cannot write: {}", std::strerror(error)),
      full ? "make room, or name a file on another disk"
           : "name a file in a folder that exists and that you may write to");
}

std::string NamesOf(const std::vector<Format>& allowed, bool endings) {
  std::string names;
  for (const FormatInfo& info : kFormats) {
    if (std::count(allowed.begin(), allowed.end(), info.format) == 0) continue;
    const std::string_view name = endings ? info.ending : info.name;
    if (name.empty()) continue;
    names += names.empty() ? "" : ", ";
    names += name;
  }
  return names;
}

Format FormatByName(const std::string& name,
                    const std::vector<Format>& allowed) {
  for (const FormatInfo& info : kFormats) {
    if (info.name == name &&
        std::count(allowed.begin(), allowed.end(), info.format) > 0) {
      return info.format;
    }
  }
  FailUsage(fmt::format("--format '{}' is not known here", Printable(name)),
            "choose of: " + NamesOf(allowed, false));
}

Format FormatByEnding(const std::string& path,
                      const std::vector<Format>& allowed) {
  const std::string_view name = path;
  for (const FormatInfo& info : kFormats) {
    if (name.ends_with(info.ending) &&
        std::count(allowed.begin(), allowed.end(), info.format) > 0) {
      return info.format;
    }
  }
  FailUsage(
      fmt::format("-o '{}' has no ending that names a format", Printable(path)),
      "end it in one of: " + NamesOf(allowed, true));
}

TerminalStyle StdoutStyle() {
  TerminalStyle style;
  if (!isatty(STDOUT_FILENO)) return style;
  const char* no_color = getenv("NO_COLOR");
  const char* term = getenv("TERM");
  style.colour = (no_color == nullptr || *no_color == '\0') &&
                 (term == nullptr || std::string_view(term) != "dumb");
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = std::clamp<size_t>(size.ws_col, 80, style.width);
  return style;
}

// A trace is often the only one of its run.
void RefuseInput(const std::string& output, const std::string& input) {
  std::error_code error;
  if (!std::filesystem::equivalent(output, input, error)) return;
  FailUsage(fmt::format("-o '{}' would replace what is read from '{}'",
                        Printable(output), Printable(input)),
            "name another file");
}

// 0 or errno.
int WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

std::vector<std::string_view> FormatNames() {
  std::vector<std::string_view> names;
  for (const FormatInfo& info : kFormats)
    if (!info.name.empty()) names.push_back(info.name);
  return names;
}

void WriteMessage(std::string_view text) { WriteAll(STDERR_FILENO, text); }

void WriteStdout(std::string_view text) {
  const int error = WriteAll(STDOUT_FILENO, text);
  if (error != 0 && error != EPIPE) FailWrite("stdout", error);
}

void HoldStandardFiles() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Open for reading: what is written to a closed stdout still fails.
    if (fcntl(file, F_GETFD) < 0) open("/dev/null", O_RDONLY);
  }
}

struct Outputs::Destination {
  Format format = Format::kTerminal;
  std::string path;       // as given; empty = stdout
  std::string target;     // links followed
  std::string temporary;  // its name until it is whole; empty: it has none
  bool in_place = true;   // a device, a pipe, stdout
  int file = -1;
  size_t slot = kMaxFiles;

  ~Destination() {
    if (file > STDERR_FILENO) close(file);
    if (!temporary.empty()) unlink(temporary.c_str());
    if (slot < kMaxFiles) g_unfinished[slot] = nullptr;
  }

  void Open(size_t slot_in) {
    std::error_code error;
    target = std::filesystem::weakly_canonical(path, error).string();
    if (error || target.empty()) target = path;
    struct stat status = {};
    const bool exists = stat(target.c_str(), &status) == 0;
    if (exists && !S_ISREG(status.st_mode)) {
      file = open(target.c_str(), O_WRONLY | O_CLOEXEC);
      if (file < 0) FailWrite(path, errno);
      return;
    }
    if (exists && access(target.c_str(), W_OK) != 0) FailWrite(path, errno);
    in_place = false;
    slot = slot_in;
    if (!OpenWithoutName()) OpenBeside();
    const mode_t mask = umask(0);
    umask(mask);
    if (fchmod(file, exists ? status.st_mode & 07777 : 0666 & ~mask) != 0)
      FailWrite(path, errno);
  }

  /// Of a file without a name nothing is left, however the process ends. Many
  /// file systems of clusters cannot do that.
  bool OpenWithoutName() {
    if (access("/proc/self/fd", X_OK) != 0) return false;
    const auto folder = std::filesystem::path(target).parent_path();
    file = open(folder.empty() ? "." : folder.c_str(),
                O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    return file >= 0;
  }

  void OpenBeside() {
    std::string name = target + ".XXXXXX";
    file = mkostemp(name.data(), O_CLOEXEC);
    if (file < 0) FailWrite(path, errno);
    SetTemporary(name);
  }

  void SetTemporary(const std::string& name) {
    temporary = name;
    g_unfinished[slot] = temporary.c_str();
  }

  /// A link cannot replace a file as a renamed file can.
  void GiveName() {
    const std::string source = fmt::format("/proc/self/fd/{}", file);
    for (int i = 0;; ++i) {
      const std::string name = fmt::format("{}.{}-{}", target, getpid(), i);
      if (linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(),
                 AT_SYMLINK_FOLLOW) == 0) {
        return SetTemporary(name);
      }
      if (errno != EEXIST) FailWrite(path, errno);
    }
  }

  bool SameFile(const Destination& other) const {
    return !in_place && target == other.target;
  }

  void Finish() {
    if (in_place) return;
    // On the disk before it has its name: half a file never has.
    if (fsync(file) != 0) FailWrite(path, errno);
    if (temporary.empty()) GiveName();
    if (close(std::exchange(file, -1)) != 0) FailWrite(path, errno);
    if (rename(temporary.c_str(), target.c_str()) != 0) FailWrite(path, errno);
    g_unfinished[slot] = nullptr;
    temporary.clear();
  }
};

Outputs::Outputs(const CommonOptions& common,
                 const std::vector<std::string>& inputs,
                 std::vector<Format> allowed) {
  const std::string& format = common.format;
  const std::vector<std::string>& paths = common.outputs;
  if (paths.size() > kMaxFiles)
    FailUsage(fmt::format("more than {} files to write", kMaxFiles), "");
  // Choose all formats before touching a file.
  bool to_stdout = paths.empty() || !format.empty();
  const Format stdout_format =
      format.empty() ? allowed.front() : FormatByName(format, allowed);
  for (const std::string& path : paths) {
    if (path == "-") {
      to_stdout = true;
      continue;
    }
    auto destination = std::make_unique<Destination>();
    destination->format = FormatByEnding(path, allowed);
    destination->path = path;
    RefuseInput(path, common.rules_path);
    for (const std::string& input : inputs) RefuseInput(path, input);
    destinations_.push_back(std::move(destination));
  }
  if (!destinations_.empty()) CatchSignals();
  for (size_t i = 0; i < destinations_.size(); ++i) {
    destinations_[i]->Open(i);
    for (size_t j = 0; j < i; ++j) {
      if (destinations_[j]->SameFile(*destinations_[i]))
        FailUsage(fmt::format("-o '{}' is named twice", Printable(paths[i])),
                  "name another file");
    }
  }
  if (!to_stdout) return;
  destinations_.push_back(std::make_unique<Destination>());
  destinations_.back()->format = stdout_format;
  destinations_.back()->file = STDOUT_FILENO;
}

Outputs::~Outputs() = default;

void Outputs::RefuseInputs(const InputSet& inputs) const {
  const std::filesystem::path first = inputs.files[0].path;
  const auto beside = first.parent_path() / "server_args.json";
  for (const auto& destination : destinations_) {
    std::error_code error;
    if (!std::filesystem::exists(destination->path, error)) continue;
    for (const InputFileName& file : inputs.files)
      RefuseInput(destination->path, file.path);
    if (!inputs.ledgers) RefuseInput(destination->path, beside.string());
  }
}

bool Outputs::WantsLedger() const {
  return std::any_of(
      destinations_.begin(), destinations_.end(),
      [](const auto& one) { return one->format == Format::kLedger; });
}

bool Outputs::WantsReport() const {
  return std::any_of(
      destinations_.begin(), destinations_.end(),
      [](const auto& one) { return one->format != Format::kLedger; });
}

void Outputs::Write(const ResultWriter& writer) {
  for (const auto& destination : destinations_) {
    const bool to_stdout = destination->path.empty();
    int error = 0;
    const TextSink sink = [&](std::string_view text) {
      if (error == 0) error = WriteAll(destination->file, text);
    };
    writer(destination->format, to_stdout ? StdoutStyle() : TerminalStyle(),
           sink);
    // `| head` has read what it wanted; SIGPIPE is ignored, see main.cc.
    if (error == EPIPE && to_stdout) error = 0;
    if (error != 0) FailWrite(to_stdout ? "stdout" : destination->path, error);
    destination->Finish();
  }
}

}  // namespace inferdiff
