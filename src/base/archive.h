// SPDX-License-Identifier: Apache-2.0
// Plain structs as bytes, and back: one list of fields a struct serves both.
//
//   auto Tie(auto& point) {                     // found by its argument
//     auto& [x, y] = point;                     // as many names as fields, or
//     return std::tie(x, y);                    // it does not compile
//   }
//
// Integers are LEB128 varints of the zigzagged difference to the same field of
// the element in front; vectors of structs lie column by column, so that a
// compressor finds what repeats. The same bytes on every machine.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace inferdiff {

template <typename T>
concept Tied = requires(T& value) {
  Tie(value);
};

class ArchiveWriter {
 public:
  static constexpr bool kReads = false;

  void Unsigned(uint64_t value);
  void Text(std::string_view text);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Of bytes that anybody may have written. Throws InputError "damaged-ledger"
/// where they are not what is asked for.
class ArchiveReader {
 public:
  static constexpr bool kReads = true;

  explicit ArchiveReader(std::string_view bytes) : rest_(bytes) {}

  uint64_t Unsigned();
  std::string_view Text();
  /// A number of things that take so many bytes each: no more than can follow.
  size_t Count(size_t least_bytes);
  void ExpectEnd() const;

 private:
  std::string_view rest_;
};

/// Why a ledger file cannot be used. The file's name is the caller's to add.
[[noreturn]] void FailDamaged(const std::string& what);

namespace archive {

inline uint64_t Zigzag(uint64_t value) {
  return (value << 1) ^ (0 - (value >> 63));
}
inline uint64_t Unzigzag(uint64_t value) {
  return (value >> 1) ^ (0 - (value & 1));
}

template <typename T>
constexpr bool kIsVector = false;
template <typename T>
constexpr bool kIsVector<std::vector<T>> = true;
template <typename T>
constexpr bool kIsArray = false;
template <typename T, size_t N>
constexpr bool kIsArray<std::array<T, N>> = true;
template <typename T>
constexpr bool kIsOptional = false;
template <typename T>
constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
concept Whole = std::integral<T> || std::is_enum_v<T>;

/// Bytes that a value takes at least: each leaf takes one.
template <typename T>
constexpr size_t LeastBytes();
template <typename Tuple>
constexpr size_t LeastBytesOfFields() {
  return []<size_t... I>(std::index_sequence<I...>) {
    return (LeastBytes<std::remove_cvref_t<std::tuple_element_t<I, Tuple>>>() +
            ...);
  }
  (std::make_index_sequence<std::tuple_size_v<Tuple>>());
}
template <typename T>
constexpr size_t LeastBytes() {
  if constexpr (kIsArray<T>)
    return std::tuple_size_v<T> * LeastBytes<typename T::value_type>();
  else if constexpr (Tied<T>)
    return LeastBytesOfFields<decltype(Tie(std::declval<T&>()))>();
  else
    return 1;
}

/// An integer or enumeration behind `last`, the one in front of it.
template <typename Archive, typename T>
void Difference(Archive& archive, T& value, uint64_t& last) {
  if constexpr (Archive::kReads) {
    last += Unzigzag(archive.Unsigned());
    const auto read = static_cast<T>(last);
    bool fits = static_cast<uint64_t>(read) == last;
    if constexpr (std::is_enum_v<T>) fits = last <= LastOf(T{});
    if constexpr (std::is_same_v<T, bool>) fits = last <= 1;
    if (!fits) FailDamaged("a number is out of its range");
    value = read;
  } else {
    const auto now = static_cast<uint64_t>(value);
    archive.Unsigned(Zigzag(now - last));
    last = now;
  }
}

template <typename Archive, typename T>
void Value(Archive& archive, T& value);

/// `at(i)` is element i of n.
template <typename Archive, typename At>
void Column(Archive& archive, size_t n, At at) {
  using T = std::remove_cvref_t<decltype(at(0))>;
  if constexpr (Tied<T>) {
    using Fields = decltype(Tie(at(0)));
    [&]<size_t... I>(std::index_sequence<I...>) {
      (Column(
           archive,
           n, [&](size_t i) -> auto& { return std::get<I>(Tie(at(i))); }),
       ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Fields>>());
  } else if constexpr (Whole<T>) {
    uint64_t last = 0;
    for (size_t i = 0; i < n; ++i) Difference(archive, at(i), last);
  } else {
    for (size_t i = 0; i < n; ++i) Value(archive, at(i));
  }
}

template <typename Archive, typename T>
void Optional(Archive& archive, T& value) {
  bool has = value.has_value();
  Value(archive, has);
  if constexpr (Archive::kReads) {
    value.reset();
    if (has) value.emplace();
  }
  if (has) Value(archive, *value);
}

template <typename Archive, typename T>
void Value(Archive& archive, T& value) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Plain, std::string>) {
    if constexpr (Archive::kReads)
      value = archive.Text();
    else
      archive.Text(value);
  } else if constexpr (kIsOptional<Plain>) {
    Optional(archive, value);
  } else if constexpr (kIsVector<Plain>) {
    if constexpr (Archive::kReads)
      value.resize(archive.Count(LeastBytes<typename Plain::value_type>()));
    else
      archive.Unsigned(value.size());
    Column(
        archive, value.size(), [&](size_t i) -> auto& { return value[i]; });
  } else if constexpr (kIsArray<Plain>) {
    Column(
        archive, value.size(), [&](size_t i) -> auto& { return value[i]; });
  } else if constexpr (Tied<T> || Whole<Plain>) {
    Column(
        archive, 1, [&](size_t) -> auto& { return value; });
  } else {
    Archived(archive, value);  // found by its argument
  }
}

}  // namespace archive

/// The bytes of a value.
template <typename T>
std::string ToArchive(const T& value) {
  ArchiveWriter writer;
  archive::Value(writer, value);
  return writer.bytes();
}

/// The value that all of these bytes are.
template <typename T>
T FromArchive(std::string_view bytes) {
  ArchiveReader reader(bytes);
  T value;
  archive::Value(reader, value);
  reader.ExpectEnd();
  return value;
}

}  // namespace inferdiff
