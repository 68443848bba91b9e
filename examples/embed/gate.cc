// SPDX-License-Identifier: Apache-2.0
// A program of your own around the library: is B slower than A by more than
// 5 %? Prints the report as Markdown, and ends with 1 where it is.
#include <inferdiff.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: gate A B\n";
    return 2;
  }
  inferdiff::ReportOptions options;
  options.form = inferdiff::ReportForm::kMarkdown;
  options.fail_if = {"gap.wall > 5%"};
  try {
    const inferdiff::Report report =
        inferdiff::Compare({argv[1]}, {argv[2]}, options);
    std::cout << report.text;
    for (const std::string& line : report.failed_gates)
      std::cerr << line << "\n";
    return report.failed_gates.empty() ? 0 : 1;
  } catch (const inferdiff::ReportError& error) {
    std::cerr << error.id << ": " << error.what() << "\n" << error.fix << "\n";
    return 2;
  }
}
