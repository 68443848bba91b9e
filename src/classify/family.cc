// SPDX-License-Identifier: Apache-2.0
// What varies between instances of one kernel, folded into `*`:
//
//   at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<
//       float, float, float, at::native::binary_internal::MulFunctor<float> >
//       ...>(int, ...) at::native::vectorized_elementwise_kernel<*MulFunctor*>
//   gemm_Bfloat16_E4m3E4m3_Fp32_t128x16x128u2_s6_...
//                            gemm_Bfloat16_E4m3E4m3_*_t128x16x128
//   nvjet_sm90_tst_128x8_64x12_2x1_v_bz_TNT         nvjet_sm90_tst_*
//   triton_poi_fused_add_mul_7                      triton_poi_fused_add_mul_*
//
// One pass over the name; the same name gives the same family everywhere.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "classify/classify.h"
#include "classify/kernel_name.h"

namespace inferdiff {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsWord(char c) {
  return IsDigit(c) || IsLower(c) || IsUpper(c) || c == '_';
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <size_t kSize>
bool IsOneOf(std::string_view word,
             const std::array<std::string_view, kSize>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Heads that run somebody else's functor or kernel: the first argument that
/// names it is kept.
bool RunsItsArgument(std::string_view head) {
  constexpr std::array<std::string_view, 4> kContainers = {
      "cutlass::device_kernel", "cutlass::Kernel", "cutlass::Kernel2",
      "ck_tile::kentry"};
  return IsOneOf(head, kContainers);
}

bool IsTorchHead(std::string_view head) {
  return head.starts_with("at::native::") ||
         head == "elementwise_kernel_with_index";
}

/// Whether an identifier inside a PyTorch kernel's arguments says what it
/// computes. The wrappers around the functor do not.
bool TellsOperation(std::string_view word) {
  constexpr std::array<std::string_view, 10> kWrappers = {
      "BinaryFunctor",          "AUnaryFunctor",
      "BUnaryFunctor",          "UnaryOpFunctor",
      "gpu_kernel_impl_nocast", "gpu_kernel_impl",
      "gpu_index_kernel",       "opmath_gpu_kernel_with_scalars_impl",
      "BinaryOpScalarFunctor",  "PointwiseOpScalarFunctor"};
  if (IsOneOf(word, kWrappers)) return false;
  if (word.starts_with("CUDAFunctor")) return true;
  for (const std::string_view end :
       {"Functor", "functor", "Ops", "_kernel_cuda", "_cuda_kernel", "_kernel",
        "_kernel_impl", "_cuda_out"}) {
    if (word.ends_with(end) && word.size() > end.size()) return true;
  }
  return false;
}

/// The first identifier in `arguments` that `tells`; empty if none.
template <typename Predicate>
std::string_view FirstIdentifier(std::string_view arguments, Predicate tells) {
  for (size_t i = 0; i < arguments.size();) {
    if (!IsWord(arguments[i])) {
      ++i;
      continue;
    }
    const size_t start = i;
    while (i < arguments.size() && IsWord(arguments[i])) ++i;
    const std::string_view word = arguments.substr(start, i - start);
    const char next = i < arguments.size() ? arguments[i] : '\0';
    if (tells(word, next)) return word;
  }
  return {};
}

/// "<...>" as a person writes it. `rest` starts at the '<'.
std::string FoldArguments(std::string_view head, std::string_view rest) {
  std::string_view kept;
  if (IsTorchHead(head)) {
    kept = FirstIdentifier(
        rest, [](std::string_view word, char) { return TellsOperation(word); });
  } else if (RunsItsArgument(head)) {
    // The first template among the arguments, without its namespaces.
    kept = FirstIdentifier(rest, [](std::string_view word, char next) {
      return !IsDigit(word[0]) && (next == '<' || next == '>');
    });
  } else if (const size_t at = rest.find("GemmType)");
             at != std::string_view::npos) {
    kept = rest.substr(at, 10);  // dense and grouped GEMMs share one name
  }
  return kept.empty() ? "<*>" : "<*" + std::string(kept) + "*>";
}

/// Pieces of a flat name between underscores.
std::vector<std::string_view> Tokens(std::string_view name) {
  std::vector<std::string_view> tokens;
  while (true) {
    const size_t end = name.find('_');
    tokens.push_back(name.substr(0, end));
    if (end == std::string_view::npos) return tokens;
    name.remove_prefix(end + 1);
  }
}

/// "128x64", "t128x16x128u2", "MT64x16x256", "tilesize128x128x64".
bool IsTile(std::string_view token) {
  for (size_t i = 1; i + 1 < token.size(); ++i) {
    if (token[i] == 'x' && IsDigit(token[i - 1]) && IsDigit(token[i + 1])) {
      return true;
    }
  }
  return false;
}

bool IsNumber(std::string_view token) {
  return !token.empty() && std::all_of(token.begin(), token.end(), IsDigit);
}

/// Eight or more hex digits, some of them numbers: a hash. "bf16bf16" is not.
bool IsHash(std::string_view token) {
  return token.size() >= 8 && !Contains(token, "f16") &&
         std::all_of(
             token.begin(), token.end(),
             [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }) &&
         std::any_of(token.begin(), token.end(), IsDigit);
}

/// Belongs to a tile next to it: "tn", "ps", "1tg", "s6", "2cta".
bool IsTileDetail(std::string_view token) {
  return token.size() <= 2 || (token.size() <= 4 && IsDigit(token[0]));
}

std::string Join(const std::vector<std::string_view>& tokens, size_t end) {
  std::string out;
  for (size_t i = 0; i < end; ++i) {
    if (i > 0) out += '_';
    out += tokens[i];
  }
  return out;
}

/// Names whose generator writes all of its parameters behind a fixed start.
/// Returns an empty string for any other.
std::string FoldGenerated(std::string_view name) {
  const std::vector<std::string_view> tokens = Tokens(name);
  const auto tile = std::find_if(tokens.begin(), tokens.end(), IsTile);
  if (name.starts_with("nvjet_")) {
    // nvjet_[sm90_]tst_<tile>...
    return Join(tokens, static_cast<size_t>(tile - tokens.begin())) + "_*";
  }
  if (tile == tokens.end()) return {};
  if ((tokens[0] == "gemm" || tokens[0] == "bmm") && tokens.size() > 3 &&
      (*tile)[0] == 't') {
    const size_t end = tile->find_first_not_of("t0123456789x");
    return Join(tokens, 3) + "_*_" + std::string(tile->substr(0, end));
  }
  if (tokens[0] == "Cijk" && tile->starts_with("MT") && tokens.size() > 4) {
    return Join(tokens, 4) + "_*_" + std::string(*tile);
  }
  return {};
}

/// Where parameters start that a generator appended in capitals
/// ("_gemm_a8w8_kernel_BLOCK_SIZE_M_128_...") or as an object's repr.
size_t GeneratedTail(std::string_view name) {
  for (const std::string_view mark : {"_object_at_", "_tensorptr"}) {
    const size_t at = name.find(mark);
    if (at != std::string_view::npos) return at;
  }
  constexpr std::string_view kKernel = "_kernel_";
  const size_t kernel = name.find(kKernel);
  if (kernel == std::string_view::npos) return name.size();
  const std::string_view tail = name.substr(kernel + kKernel.size());
  const size_t word = tail.find_first_of("_0123456789");
  const bool capitals =
      word != std::string_view::npos && word >= 3 &&
      std::all_of(tail.begin(), tail.begin() + static_cast<ptrdiff_t>(word),
                  IsUpper);
  return capitals ? kernel + kKernel.size() - 1 : name.size();
}

/// Tiles with what belongs to them, numbers at the end, and hashes.
std::string FoldFlat(std::string_view name) {
  const size_t tail = GeneratedTail(name);
  if (tail < name.size()) return std::string(name.substr(0, tail)) + "_*";
  const std::vector<std::string_view> tokens = Tokens(name);
  std::vector<bool> folded(tokens.size());
  for (size_t i = 1; i < tokens.size(); ++i) {
    folded[i] = IsTile(tokens[i]) || IsHash(tokens[i]);
  }
  for (size_t i = tokens.size(); i-- > 1 && IsNumber(tokens[i]);) {
    folded[i] = true;
  }
  const auto is_detail = [&](size_t i) {
    return !tokens[i].empty() && IsTileDetail(tokens[i]);
  };
  for (size_t i = 2; i < tokens.size(); ++i) {  // to the right of a tile
    if (folded[i - 1] && is_detail(i)) folded[i] = true;
  }
  for (size_t i = tokens.size(); i-- > 2;) {  // to the left
    if (folded[i] && !IsNumber(tokens[i]) && is_detail(i - 1)) {
      folded[i - 1] = true;
    }
  }
  std::string out(tokens[0]);
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (!folded[i]) {
      out += '_';
      out += tokens[i];
    } else if (!folded[i - 1]) {
      out += "_*";
    }
  }
  return out;
}

/// Namespaces that carry a version: "rocprim::ROCPRIM_400200_NS::".
std::string WithoutVersions(std::string_view head) {
  std::string out;
  while (!head.empty()) {
    const size_t end = head.find("::");
    const std::string_view part = head.substr(0, end);
    const bool version = part.ends_with("_NS") && Contains(part, "_") &&
                         std::any_of(part.begin(), part.end(), IsDigit);
    if (version) {
      out += std::string(part.substr(0, part.find('_'))) + "_*_NS";
    } else {
      out += part;
    }
    if (end == std::string_view::npos) break;
    out += "::";
    head.remove_prefix(end + 2);
  }
  return out;
}

}  // namespace

std::string Family(std::string_view display_name) {
  const std::string text = WithoutAnonymous(display_name);
  const std::string_view name = text;
  const size_t head_length = HeadLength(name);
  const std::string_view head = name.substr(0, head_length);
  if (head.ends_with(' ')) return text;  // "Memcpy DtoH (Device -> Pinned)"
  const std::string_view rest = name.substr(head_length);
  if (rest.starts_with('<')) {
    return WithoutVersions(head) + FoldArguments(head, rest);
  }
  const std::string generated = FoldGenerated(head);
  if (!generated.empty()) return generated;
  const size_t scope = head.rfind("::");
  if (scope == std::string_view::npos) return FoldFlat(head);
  return std::string(head.substr(0, scope + 2)) +
         FoldFlat(head.substr(scope + 2));
}

}  // namespace inferdiff
