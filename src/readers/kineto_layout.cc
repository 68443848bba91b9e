// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_layout.h"

#include <algorithm>

namespace inferdiff {
namespace {

using Slot = KindLayout::Slot;

/// A value's place in the event.
struct Place {
  size_t begin;
  size_t end;
  Slot slot;
};

Place PlaceOf(std::string_view event, const JsonScalar& value, Slot slot) {
  const auto begin = static_cast<size_t>(value.text.data() - event.data());
  return {begin, begin + value.text.size(), slot};
}

bool LearnPlaces(std::string_view event, std::array<Place, 5> places,
                 size_t from, size_t args_begin, KindLayout* layout) {
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.begin < b.begin; });
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].begin < from || places[i].end > args_begin) return false;
    const auto text = event.substr(from, places[i].begin - from);
    if (text.empty() || !layout->before[i].Set(text)) return false;
    layout->order[i] = places[i].slot;
    from = places[i].end;
  }
  return layout->before_args.Set(event.substr(from, args_begin + 1 - from));
}

/// Whether the object that follows `text` is the value of "args": any other key
/// may stand in front of a brace.
bool EndsWithArgsKey(std::string_view text) {
  const auto trim = [&] {
    const size_t last = text.find_last_not_of(" \n\r\t");
    text = text.substr(0, last == text.npos ? 0 : last + 1);
  };
  trim();
  if (text.empty() || text.back() != ':') return false;
  text.remove_suffix(1);
  trim();
  constexpr std::string_view kKey = "\"args\"";
  if (text.size() <= kKey.size()) return false;
  const size_t key = text.size() - kKey.size();
  return text.substr(key) == kKey && text[key - 1] != '\\';
}

}  // namespace

void LayoutCache::LearnHead(std::string_view event, const EventFields& fields) {
  if (!fields.ph.quoted || !fields.cat.quoted) return;
  const Place ph = PlaceOf(event, fields.ph, Slot::kName);
  const Place cat = PlaceOf(event, fields.cat, Slot::kName);
  if (ph.end > cat.begin) return;
  known = before_ph.Set(event.substr(0, ph.begin)) &&
          ph_to_cat.Set(event.substr(ph.end, cat.begin - ph.end));
}

void LayoutCache::LearnKind(std::string_view event, const EventFields& fields,
                            EventKind kind, size_t args_begin,
                            size_t args_end) {
  for (const JsonScalar* value : {&fields.name, &fields.pid, &fields.tid,
                                  &fields.ts, &fields.dur, &fields.cat}) {
    if (!value->present) return;
  }
  if (!fields.cat.quoted || !fields.name.quoted) return;
  if (!EndsWithArgsKey(event.substr(0, args_begin))) return;
  const std::array<Place, 5> places = {PlaceOf(event, fields.name, Slot::kName),
                                       PlaceOf(event, fields.pid, Slot::kPid),
                                       PlaceOf(event, fields.tid, Slot::kTid),
                                       PlaceOf(event, fields.ts, Slot::kTs),
                                       PlaceOf(event, fields.dur, Slot::kDur)};
  const Place cat = PlaceOf(event, fields.cat, Slot::kName);
  KindLayout& layout = kinds[static_cast<size_t>(kind)];
  layout.known = LearnPlaces(event, places, cat.end, args_begin, &layout) &&
                 layout.tail.Set(event.substr(args_end));
}

}  // namespace inferdiff
