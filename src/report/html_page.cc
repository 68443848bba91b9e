// SPDX-License-Identifier: Apache-2.0
#include "report/html_page.h"

#include <fmt/core.h>

#include "base/embedded_text.h"
#include "base/version.h"
#include "report/html_table.h"
#include "report/html_text.h"

namespace inferdiff {
namespace {

/// A file of build/web, by name.
std::string_view Embedded(std::string_view name) {
  for (const EmbeddedText& file : embedded_page())
    if (file.name == name) return file.text;
  return "";
}

/// Allows the page's own script and style, by their hashes, and nothing else:
/// no request can leave it, and no text that slipped through could run.
std::string Policy() {
  std::string_view hashes = Embedded("policy.txt");
  while (hashes.ends_with('\n')) hashes.remove_suffix(1);
  return fmt::format(
      "default-src 'none'; {}; base-uri 'none'; form-action 'none'", hashes);
}

std::string Head(const Page& page) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"generator\" content=\"inferdiff {}\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n",
      Policy(), Version(), HtmlEscaped(page.title), Embedded("page.css"));
}

std::string Contents(const Page& page) {
  std::string out =
      "<nav id=\"contents\" aria-label=\"Contents\">"
      "<a class=\"brand\" href=\"#top\">inferdiff</a>\n<ul>\n";
  for (const PagePart& part : page.parts) {
    if (!part.nav.empty())
      out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", part.id,
                         HtmlEscaped(part.nav));
  }
  return out + "</ul></nav>\n";
}

std::string PartText(const PagePart& part) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n"
      "<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
      part.id, HtmlText(part.title), part.body);
}

}  // namespace

void WritePage(const Page& page, const TextSink& sink) {
  sink(Head(page));
  sink("<body>\n<a class=\"skip\" href=\"#top\">Skip to the verdict</a>\n");
  sink(Contents(page));
  sink("<main id=\"top\">\n");
  sink(page.hero);
  for (const PagePart& part : page.parts) sink(PartText(part));
  sink(
      fmt::format("<footer><p>Made by <code>inferdiff {} {}</code>. This file "
                  "is whole: it needs no network and sends nothing.</p>"
                  "</footer>\n</main>\n",
                  page.command, Version()));
  if (!page.drawing.empty()) {
    sink("<script type=\"application/json\" id=\"drawing\">");
    sink(ScriptJson(page.drawing));
    sink("</script>\n");
  }
  sink("<script>");
  sink(Embedded("page.js"));
  sink("</script>\n</body>\n</html>\n");
}

std::vector<PagePart> PartsOf(const Document& document) {
  std::vector<PagePart> parts;
  for (const Section& section : document.sections) {
    PagePart part;
    part.id = section.id.empty() ? fmt::format("part-{}", parts.size() + 1)
                                 : HtmlId(section.id);
    part.nav = part.title = section.title;
    part.body = HtmlSection(section);
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace inferdiff
