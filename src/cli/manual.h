// SPDX-License-Identifier: Apache-2.0
// The manual page and the shell's completion, made of what --help says and of
// the options that the parser knows.
#pragma once

#include <string>
#include <vector>

namespace inferdiff {

struct CommandHelp {
  std::string name;                  // empty: the program itself
  std::string help;                  // the text of --help
  std::vector<std::string> options;  // "--format", "-o"; as the parser has them
};

/// Of inferdiff(1), for man(7). The program itself comes first.
std::string ManualPage(const std::vector<CommandHelp>& commands);

/// Of bash: commands, options, forms; everything else is a file.
std::string BashCompletion(const std::vector<CommandHelp>& commands);

}  // namespace inferdiff
