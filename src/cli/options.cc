// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "base/decimal.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "load/load_results.h"

namespace inferdiff {
namespace {

// Optimal string alignment distance, so that "foramt" is one step from
// "format". Both are short: option names and what people type for them.
size_t EditDistance(std::string_view a, std::string_view b) {
  if (a.size() > 64 || b.size() > 64) return 64;
  std::vector<std::vector<size_t>> d(a.size() + 1,
                                     std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

// The candidate that a typing error explains; empty if none does.
std::string Nearest(std::string_view word,
                    const std::vector<std::string>& candidates) {
  std::string nearest;
  size_t best = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

std::vector<std::string> SubcommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub :
       app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

std::string SeeHelp(const CLI::App& app) {
  return app.get_parent() == nullptr
             ? "see `inferdiff --help`"
             : fmt::format("see `inferdiff {} --help`", app.get_name());
}

int64_t WholeNumber(const std::string& name, std::string_view text,
                    int64_t least, int64_t most) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < least || value > most) {
    FailUsage(fmt::format("{} takes a whole number from {} to {}, not '{}'",
                          name, least, most, Printable(text)),
              "");
  }
  return value;
}

constexpr std::string_view kWhatIsAccepted =
    "it is what a sequence gets of a cycle on average, the bonus token "
    "included";

constexpr int64_t kMostInt = 9'007'199'254'740'991;  // 2^53 - 1

}  // namespace

const std::string_view kReadHelp =
    R"(      --rules FILE     kernel rules of your own, tried before the built-in ones
                       (default: none)
      --threads N      threads for reading (default: one a processor); the
                       result is the same for any number
      --strict         exit 1 if records of the input were lost or the capture
                       is doubtful (default: off)
  -h, --help           this text
)";

const std::string_view kDeviceHelp =
    R"(      --device N       take this device of a file with several (default: the
                       one with most busy time)
      --rank N         take this rank: its file of several, or its part of one
                       that was merged (default: the one with most busy time)
)";

const std::string_view kFormatHelp =
    R"(      --format FORMAT  what goes to stdout: terminal, markdown, json or tsv
                       (default: terminal; nothing where -o is given)
  -o, --output FILE    write FILE, in the format of its ending: .txt .md .json
                       .tsv; may be repeated, - is stdout
)";

const std::string_view kCompareFormatHelp =
    R"(      --format FORMAT  what goes to stdout: terminal, markdown, json, tsv,
                       html, one page, or perfetto, the representative steps as
                       a trace for ui.perfetto.dev (default: terminal; nothing
                       where -o is given)
  -o, --output FILE    write FILE, in the format of its ending: .txt .md .json
                       .tsv .html .pftrace; may be repeated, - is stdout
)";

const std::string_view kLedgerFormatHelp =
    R"(      --format FORMAT  what goes to stdout: terminal, markdown, json, tsv,
                       html, one page, or perfetto, the representative step as
                       a trace for ui.perfetto.dev (default: terminal; nothing
                       where -o is given)
  -o, --output FILE    write FILE, in the format of its ending: .txt .md .json
                       .tsv .html .pftrace .ledger; may be repeated, - is stdout
)";

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
    for (const std::string& name : option->get_snames())
      names.push_back("-" + name);
  }
  return names;
}

Rules LoadRules(const CommonOptions& options) {
  return LoadRules(options.rules_path, options.threads);
}

CLI::App* AddSubcommand(CLI::App& root, const std::string& name,
                        std::initializer_list<std::string_view> help) {
  CLI::App* app = root.add_subcommand(name);
  app->formatter_fn([text = fmt::format("{}", fmt::join(help, ""))](
                        const CLI::App*, const std::string&,
                        CLI::AppFormatMode) { return text; });
  app->allow_extras();
  return app;
}

void AddPositionals(CLI::App& app, std::vector<std::string>& target) {
  app.add_option("traces", target);
}

void AddText(CLI::App& app, const std::string& name, std::string& target) {
  // An empty word is a script's unset variable: ignored, it would make each
  // task of a job account all files.
  app.add_option_function<std::string>(
      name, [name, &target](const std::string& text) {
        if (text.empty()) {
          FailUsage(name + " is given an empty word",
                    "give it a value, or leave it out");
        }
        target = text;
      });
}

void AddFlag(CLI::App& app, const std::string& name, bool& target) {
  app.add_flag(name, target);
}

void AddOutputs(CLI::App& app, std::vector<std::string>& target) {
  app.add_option("-o,--output", target)->allow_extra_args(false);
}

void AddGates(CLI::App& app, std::vector<std::string>& target) {
  app.add_option("--fail-if", target)->allow_extra_args(false);
}

void AddReadOptions(CLI::App& app, CommonOptions& options) {
  AddText(app, "--rules", options.rules_path);
  app.add_option_function<std::string>(
      "--threads", [&options](const std::string& text) {
        options.threads =
            static_cast<unsigned>(WholeNumber("--threads", text, 1, 1024));
      });
  AddFlag(app, "--strict", options.strict);
}

void AddFormatOptions(CLI::App& app, CommonOptions& options) {
  AddText(app, "--format", options.format);
  AddOutputs(app, options.outputs);
}

void AddWhole(CLI::App& app, const std::string& name, int64_t least,
              int64_t most, int64_t& target) {
  app.add_option_function<std::string>(
      name, [name, least, most, &target](const std::string& text) {
        target = WholeNumber(name, text, least, most);
      });
}

void AddTime(CLI::App& app, const std::string& name,
             std::optional<int64_t>& target_ns) {
  app.add_option_function<std::string>(
      name, [name, &target_ns](const std::string& text) {
        target_ns = RoundedTo(TimeOrArm(name, text), {0, 1});
      });
}

void AddPerSide(CLI::App& app, const std::string& name, const std::string& form,
                const std::string& what,
                const std::function<bool(Side, std::string_view)>& take) {
  app.add_option_function<std::string>(name, [=](const std::string& text) {
    bool given_a = false, given_b = false;
    for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find(',', at), text.size());
      const std::string_view one = std::string_view(text).substr(at, end - at);
      const bool a = one.starts_with("A="), b = one.starts_with("B=");
      if (!(a || b) || !take(a ? Side::kA : Side::kB, one.substr(2))) {
        FailUsage(fmt::format("{} takes {} or one of the two, not '{}'", name,
                              form, Printable(text)),
                  what);
      }
      if (std::exchange(a ? given_a : given_b, true))
        FailUsage(fmt::format("{} names {} twice: '{}'", name, a ? 'A' : 'B',
                              Printable(text)),
                  "give each side once");
      at = end + 1;
    }
  });
}

void AddFloors(CLI::App& app, const std::string& name, FloorTimes& target) {
  AddPerSide(app, name, "A=0.64us,B=1.63us",
             "it is what one more tiny kernel in a graph costs",
             [&target](Side side, std::string_view text) {
               const auto time = ParseDuration(text);
               if (!time || time->num == 0) return false;
               (side == Side::kA ? target.a : target.b) = *time;
               return true;
             });
}

void AddAccepted(CLI::App& app, const std::string& name,
                 std::optional<Rational>& target) {
  app.add_option_function<std::string>(
      name, [name, &target](const std::string& text) {
        target = AcceptedOrArm(text);
        if (target) return;
        FailUsage(fmt::format("{} takes a mean number of tokens from 1 on, "
                              "such as 3.1, or the arm of a table such as "
                              "arms.csv:base, not '{}'",
                              name, Printable(text)),
                  std::string(kWhatIsAccepted));
      });
}

void AddAccepted(CLI::App& app, const std::string& name,
                 AcceptedTokens& target) {
  AddPerSide(app, name, "A=3.1,B=2.9", std::string(kWhatIsAccepted),
             [&target](Side side, std::string_view text) {
               const auto tokens = AcceptedOrArm(text);
               if (tokens) (side == Side::kA ? target.a : target.b) = tokens;
               return tokens.has_value();
             });
}

void AddIndex(CLI::App& app, const std::string& name,
              std::optional<int64_t>& target) {
  app.add_option_function<std::string>(
      name, [name, &target](const std::string& text) {
        target = WholeNumber(name, text, 0, kMostInt);
      });
}

void AddDeviceOptions(CLI::App& app, DeviceChoice& choice) {
  AddIndex(app, "--device", choice.device);
  AddIndex(app, "--rank", choice.rank);
}

void AddSideChoice(CLI::App& app, const std::string& name, SideChoice& target) {
  app.add_option_function<std::string>(
      name, [name, &target](const std::string& text) {
        const size_t comma = text.find(',');
        target.a = WholeNumber(name, text.substr(0, comma), 0, kMostInt);
        target.b = comma == std::string::npos
                       ? target.a
                       : WholeNumber(name, text.substr(comma + 1), 0, kMostInt);
      });
}

namespace {

[[noreturn]] void FailNoSuch(const std::string& kind, const std::string& id,
                             const std::vector<std::string>& ids) {
  const std::string nearest = Nearest(id, ids);
  FailUsage(fmt::format("no {} is called '{}'", kind, Printable(id)),
            nearest.empty()
                ? fmt::format("take one of: {}", fmt::join(ids, ", "))
                : fmt::format("did you mean `{}`?", nearest));
}

}  // namespace

CategoryGroup CategoryOption(const std::string& id) {
  if (auto group = FindCategoryGroup(id)) return *std::move(group);
  std::vector<std::string> ids;
  for (const CategoryGroup& group : CategoryGroups()) {
    ids.emplace_back(group.id);
    if (group.members.size() == 1) continue;
    for (const Category member : group.members)
      if (IdOf(member) != group.id) ids.emplace_back(IdOf(member));
  }
  FailNoSuch("category", id, ids);
}

Role RoleOption(const std::string& id) {
  if (const auto role = RoleFromId(id)) return *role;
  std::vector<std::string> ids;
  for (size_t i = 0; i < kRoleCount; ++i)
    ids.emplace_back(IdOf(static_cast<Role>(i)));
  FailNoSuch("role", id, ids);
}

void FailUnknown(const CLI::App& app, const std::vector<std::string>& extras) {
  const auto flag =
      std::find_if(extras.begin(), extras.end(), [](const std::string& text) {
        return text.size() > 1 && text[0] == '-';
      });
  if (flag != extras.end()) {
    const std::string name = flag->substr(0, flag->find('='));
    // Any two short options are one letter apart.
    const std::string nearest =
        name.size() > 2 ? Nearest(name, OptionNames(app)) : "";
    FailUsage(fmt::format("unknown option '{}'", Printable(name)),
              nearest.empty() ? SeeHelp(app)
                              : fmt::format("did you mean `{}`? {}", nearest,
                                            SeeHelp(app)));
  }
  const std::string word = Printable(extras.front());
  if (app.get_parent() != nullptr)
    FailUsage(fmt::format("'{}' is one argument too many", word), SeeHelp(app));
  const std::string nearest = Nearest(extras.front(), SubcommandNames(app));
  if (!nearest.empty()) {
    FailUsage(fmt::format("unknown command '{}'", word),
              fmt::format("did you mean `{}`? {}", nearest, SeeHelp(app)));
  }
  FailUsage(fmt::format("'{}' is no command", word),
            "a command comes first: `inferdiff ledger TRACE`, "
            "`inferdiff compare A -- B`; " +
                SeeHelp(app));
}

void ExpectTraces(const std::string& command,
                  const std::vector<std::string>& paths) {
  if (!paths.empty()) return;
  FailUsage("no trace is named",
            fmt::format("write `inferdiff {} TRACE`; see `inferdiff {} --help`",
                        command, command));
}

}  // namespace inferdiff
