// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/version.h"
#include "cli/output.h"

namespace inferdiff {
namespace {

constexpr std::string_view kUsage = "Usage: ";

/// "      --top N          kernels to list (default: 10)" and what is indented
/// below it.
struct HelpEntry {
  std::string names;  // "-o, --output FILE"
  std::string text;
};

/// A help text taken apart; blocks are apart by blank lines.
struct Help {
  std::string usage;
  std::vector<std::string> blocks;  // before the options
  std::vector<HelpEntry> entries;
  std::vector<std::string> after;  // behind the options
};

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

bool BeginsEntry(std::string_view line) {
  return line.starts_with("      --") || line.starts_with("  -");
}

HelpEntry EntryOf(std::string_view line) {
  const std::string body = Trimmed(line);
  const size_t gap = body.find("  ");  // names hold single blanks only
  if (gap == body.npos) return {body, ""};
  return {body.substr(0, gap), Trimmed(body.substr(gap))};
}

Help Parse(std::string_view text) {
  Help help;
  std::string block;
  bool in_entry = false;
  const auto flush = [&] {
    auto& blocks = help.entries.empty() ? help.blocks : help.after;
    if (!block.empty()) blocks.push_back(std::exchange(block, ""));
  };
  for (const std::string& line : LinesOf(text)) {
    if (line.starts_with(kUsage)) {
      help.usage = line.substr(kUsage.size());
    } else if (BeginsEntry(line)) {
      flush();
      help.entries.push_back(EntryOf(line));
      in_entry = true;
    } else if (in_entry && line.starts_with("        ")) {
      std::string& entry = help.entries.back().text;
      if (!entry.empty()) entry += ' ';
      entry += Trimmed(line);
    } else if (line.empty()) {
      flush();
      in_entry = false;
    } else {
      in_entry = false;
      if (!block.empty()) block += '\n';
      block += line;
    }
  }
  flush();
  return help;
}

/// For roff: a hyphen that may be typed, no escapes, no requests.
std::string Roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    line_begins = c == '\n';
  }
  return out;
}

/// Blocks with indented lines are tables: they keep their lines.
std::string RoffBlock(const std::string& block) {
  const bool table = block.starts_with(' ');
  return fmt::format(".PP\n{}{}\n{}", table ? ".nf\n" : "", Roff(block),
                     table ? ".fi\n" : "");
}

std::string RoffEntries(const Help& help) {
  std::string out;
  for (const HelpEntry& entry : help.entries)
    out += fmt::format(".TP\n.B {}\n{}\n", Roff(entry.names), Roff(entry.text));
  return out;
}

std::string RoffBlocks(const std::vector<std::string>& blocks) {
  std::string out;
  for (const std::string& block : blocks) out += RoffBlock(block);
  return out;
}

/// Options that take a value: in the help a word follows their name.
std::vector<std::string> ValueOptions(const Help& help) {
  std::vector<std::string> names;
  for (const HelpEntry& entry : help.entries) {
    const size_t last = entry.names.rfind(' ');
    if (last == entry.names.npos || entry.names[last + 1] == '-') continue;
    std::string_view rest = std::string_view(entry.names).substr(0, last);
    for (size_t comma; (comma = rest.find(", ")) != rest.npos;) {
      names.emplace_back(rest.substr(0, comma));
      rest.remove_prefix(comma + 2);
    }
    names.emplace_back(rest);
  }
  return names;
}

/// The formats that the help of --format names.
std::string FormsOf(const Help& help) {
  std::string forms;
  for (const HelpEntry& entry : help.entries) {
    if (!entry.names.starts_with("--format")) continue;
    for (const std::string_view name : FormatNames())
      if (entry.text.find(name) != entry.text.npos)
        forms += fmt::format("{} ", name);
  }
  return forms;
}

}  // namespace

std::string ManualPage(const std::vector<CommandHelp>& commands) {
  const Help program = Parse(commands[0].help);
  std::string out = fmt::format(
      ".TH INFERDIFF 1 \"\" \"inferdiff {}\" \"User Commands\"\n"
      ".SH NAME\ninferdiff \\- compare LLM inference on two platforms from GPU "
      "traces\n.SH SYNOPSIS\n.B inferdiff\n{}\n.SH DESCRIPTION\n{}{}",
      Version(), Roff(program.usage.substr(program.usage.find(' ') + 1)),
      RoffBlocks(program.blocks), RoffEntries(program));
  out += RoffBlocks(program.after) + ".SH COMMANDS\n";
  for (size_t i = 1; i < commands.size(); ++i) {
    const Help help = Parse(commands[i].help);
    out += fmt::format(".SS {}\n.B {}\n{}{}{}", commands[i].name,
                       Roff(help.usage), RoffBlocks(help.blocks),
                       RoffEntries(help), RoffBlocks(help.after));
  }
  return out;
}

std::string BashCompletion(const std::vector<CommandHelp>& commands) {
  std::string names, cases;
  for (const CommandHelp& command : commands) {
    if (!command.name.empty()) names += command.name + ' ';
    const Help help = Parse(command.help);
    cases += fmt::format("    '{}') options='{}' values=' {} ' forms='{}' ;;\n",
                         command.name, fmt::join(command.options, " "),
                         fmt::join(ValueOptions(help), " "), FormsOf(help));
  }
  return fmt::format(
      R"(# bash completion of inferdiff; made by `inferdiff completion`
_inferdiff() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local commands='{}' command= options= values= forms= word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case " $commands " in *" $word "*) command=$word; break ;; esac
  done
  case $command in
{}  esac
  COMPREPLY=()
  if [[ $before == --format ]]; then
    COMPREPLY=($(compgen -W "$forms" -- "$current"))
  elif [[ $values == *" $before "* ]]; then
    COMPREPLY=()  # a value: files
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -z $command || $command == help ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  fi
}}
complete -o default -F _inferdiff inferdiff
)",
      Trimmed(names), cases);
}

}  // namespace inferdiff
