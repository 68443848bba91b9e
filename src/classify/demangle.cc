// SPDX-License-Identifier: Apache-2.0
#include "classify/demangle.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace inferdiff {
namespace {

constexpr size_t kMaxInput = 16384;        // longer names are cut
constexpr size_t kMaxOutput = 4096;        // of each piece of text
constexpr size_t kMaxSubstitutions = 512;  // 1500-byte names have about 60
constexpr size_t kMaxWord = 256;           // of an identifier, when guessing
constexpr int kMaxDepth = 256;

/// What stops the parse: text this reader does not know, or a limit.
struct Unreadable {};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsWord(char c) {
  return IsDigit(c) || IsUpper(c) || (c >= 'a' && c <= 'z') || c == '_';
}

/// <builtin-type> by its letter, a to z; empty where a letter is none.
// clang-format off
constexpr std::array<std::string_view, 26> kBuiltinTypes = {
    "signed char", "bool", "char", "double", "long double", "float",
    "__float128", "unsigned char", "int", "unsigned int", "", "long",
    "unsigned long", "__int128", "unsigned __int128", "", "", "", "short",
    "unsigned short", "", "void", "wchar_t", "long long",
    "unsigned long long", "..."};
// clang-format on

std::string_view BuiltinType(char code) {
  if (code < 'a' || code > 'z') return {};
  return kBuiltinTypes[static_cast<size_t>(code - 'a')];
}

/// Recursive descent over <name> and <template-args> of the Itanium C++ ABI
/// (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling). Every piece
/// of text is cut at kMaxOutput, every loop consumes input.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::string Name();
  /// The name as far as it was read when Name() threw.
  const std::string& partial() const { return partial_; }
  std::string_view behind_partial() const { return text_.substr(partial_at_); }

 private:
  /// Counts the nesting of one production.
  struct Level {
    explicit Level(Parser* p) : parser(p) {
      if (++parser->depth_ > kMaxDepth) throw Unreadable();
    }
    ~Level() { --parser->depth_; }
    Parser* parser;
  };

  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool Accept(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  char Next() {
    if (at_ >= text_.size()) throw Unreadable();
    return text_[at_++];
  }
  static std::string Cut(std::string text) {
    if (text.size() > kMaxOutput) text.resize(kMaxOutput);
    return text;
  }
  void Remember(const std::string& text) {
    if (substitutions_.size() >= kMaxSubstitutions) throw Unreadable();
    substitutions_.push_back(Cut(text));
  }

  void SetPartial(const std::string& name) {
    partial_ = name;
    partial_at_ = at_;
  }

  size_t Number();
  size_t SequenceId(unsigned base);
  std::string SourceName();
  std::string NestedName();
  std::string LocalName();
  std::string Unqualified();
  std::string Substitution();
  std::string TemplateParam();
  std::string TemplateArgs();
  std::string TemplateArg();
  std::string Literal();
  std::string Expression();
  std::string Type();
  std::string FunctionType();
  std::string ExtendedType();
  std::string NamedType();

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  int name_depth_ = 0;
  std::string partial_;
  size_t partial_at_ = 0;
  std::vector<std::string> substitutions_;
  std::vector<std::string> arguments_;  // of the outermost template
};

size_t Parser::Number() {
  size_t value = 0;
  if (!IsDigit(Peek())) throw Unreadable();
  while (IsDigit(Peek())) {
    value = value * 10 + static_cast<size_t>(Next() - '0');
    if (value > kMaxInput) throw Unreadable();
  }
  return value;
}

/// "_" is 0, "0_" is 1, "Z_" is 36 in base 36.
size_t Parser::SequenceId(unsigned base) {
  if (Accept("_")) return 0;
  size_t value = 0;
  while (!Accept("_")) {
    const char c = Next();
    if (!IsDigit(c) && !(base == 36 && IsUpper(c))) throw Unreadable();
    value =
        value * base + static_cast<size_t>(IsDigit(c) ? c - '0' : c - 'A' + 10);
    if (value > kMaxInput) throw Unreadable();
  }
  return value + 1;
}

std::string Parser::SourceName() {
  const size_t length = Number();
  if (length == 0 || length > text_.size() - at_) throw Unreadable();
  const std::string_view name = text_.substr(at_, length);
  at_ += length;
  if (name.starts_with("_GLOBAL__N")) return "(anonymous namespace)";
  return std::string(name);
}

std::string Parser::Unqualified() {
  while (Accept("L")) {
  }
  std::string name;
  if (IsDigit(Peek())) {
    name = SourceName();
  } else if (Accept("Ut")) {
    SequenceId(10);
    name = "{unnamed}";
  } else if (Accept("Ul")) {
    while (!Accept("E")) Type();
    SequenceId(10);
    name = "{lambda}";
  } else if (Accept("cl")) {
    name = "operator()";
  } else if ((Peek() == 'C' || Peek() == 'D') && IsDigit(Peek(1))) {
    name = Next() == 'C' ? "{constructor}" : "{destructor}";
    Next();
  } else {
    throw Unreadable();
  }
  while (Accept("B")) name.append("[").append(SourceName()).append("]");
  return name;
}

/// N [qualifiers] prefix+ E. Each prefix but the last is a substitution.
std::string Parser::NestedName() {
  while (Peek() == 'K' || Peek() == 'V' || Peek() == 'r' || Peek() == 'R' ||
         Peek() == 'O') {
    Next();
  }
  std::string name;
  bool remembered = true;
  while (!Accept("E")) {
    if (!remembered) Remember(name);
    remembered = false;
    if (Peek() == 'I') {
      name += TemplateArgs();
    } else if (Peek() == 'S' && Peek(1) != 't' && name.empty()) {
      name = Substitution();
      remembered = true;
    } else if (Peek() == 'T' && name.empty()) {
      name = TemplateParam();
    } else if (Accept("St")) {
      name = "std";
      remembered = true;
    } else {
      if (!name.empty()) name += "::";
      name += Unqualified();
    }
    name = Cut(std::move(name));
    if (name_depth_ == 1) SetPartial(name);
  }
  return name;
}

/// Z encoding E entity: something inside a function.
std::string Parser::LocalName() {
  std::string name = Name();
  while (!Accept("E")) Type();  // the function's own parameters
  if (Accept("s")) return name + "::{string}";
  name = Cut(name + "::" + Name());
  if (Accept("_")) Number();  // the how-manieth of that name
  return name;
}

std::string Parser::Name() {
  const Level level(this);
  ++name_depth_;
  std::string name;
  if (Accept("N")) {
    name = NestedName();
  } else if (Accept("Z")) {
    name = LocalName();
  } else if (Peek() == 'S' && Peek(1) != 't') {
    name = Substitution();
    if (Peek() == 'I') name += TemplateArgs();
  } else {
    if (Accept("St")) name = "std::";
    name += Unqualified();
    if (name_depth_ == 1) SetPartial(name);
    if (Peek() == 'I') {
      Remember(name);
      name += TemplateArgs();
    }
  }
  --name_depth_;
  return Cut(std::move(name));
}

std::string Parser::Substitution() {
  if (!Accept("S")) throw Unreadable();
  switch (Peek()) {
    case 'a':
      Next();
      return "std::allocator";
    case 'b':
      Next();
      return "std::basic_string";
    case 's':
      Next();
      return "std::string";
    case 'i':
      Next();
      return "std::istream";
    case 'o':
      Next();
      return "std::ostream";
    case 'd':
      Next();
      return "std::iostream";
    default:
      break;
  }
  const size_t id = SequenceId(36);
  if (id >= substitutions_.size()) throw Unreadable();
  return substitutions_[id];
}

std::string Parser::TemplateParam() {
  if (!Accept("T")) throw Unreadable();
  const size_t id = SequenceId(10);
  return id < arguments_.size() ? arguments_[id] : "auto";
}

std::string Parser::TemplateArgs() {
  const Level level(this);
  if (!Accept("I")) throw Unreadable();
  const bool outermost = name_depth_ == 1 && depth_ == 2;
  if (outermost) arguments_.clear();
  std::string args;
  while (!Accept("E")) {
    const std::string arg = TemplateArg();
    if (outermost) arguments_.push_back(arg);
    if (arg.empty()) continue;
    if (!args.empty()) args += ", ";
    args += arg;
    args = Cut(std::move(args));
  }
  return std::string("<").append(args).append(">");
}

std::string Parser::TemplateArg() {
  const Level level(this);
  // A declaration of what the parameter is; only the argument matters.
  if (Accept("Tn")) Type();
  while (Accept("Ty")) {
  }
  if (Peek() == 'L') return Literal();
  if (Accept("X")) {
    std::string text = Expression();
    if (!Accept("E")) throw Unreadable();
    return text;
  }
  if (Accept("J")) {
    std::string pack;
    while (!Accept("E")) {
      if (!pack.empty()) pack += ", ";
      pack = Cut(pack + TemplateArg());
    }
    return pack;
  }
  return Type();
}

std::string Parser::Literal() {
  if (!Accept("L")) throw Unreadable();
  if (Accept("_Z") || Accept("Z")) {
    std::string name = Name();
    while (!Accept("E")) Type();
    return name;
  }
  const std::string type = Type();
  std::string value = Accept("n") ? "-" : "";
  while (!Accept("E")) value += Next();
  if (type == "bool") return value == "0" ? "false" : "true";
  if (type == "int") return value;
  if (type == "unsigned int") return value + "u";
  if (type == "long") return value + "l";
  if (type == "unsigned long") return value + "ul";
  return std::string("(").append(type).append(")").append(value);
}

/// The few expressions that stand as template arguments of kernels.
std::string Parser::Expression() {
  const Level level(this);
  if (Accept("ad")) return std::string("&").append(Expression());
  if (Peek() == 'L') return Literal();
  if (Peek() == 'T') return TemplateParam();
  throw Unreadable();
}

std::string Parser::FunctionType() {
  Accept("Y");
  std::string types;
  std::string result = Type();
  while (!Accept("E")) {
    if (!types.empty()) types += ", ";
    types = Cut(types + Type());
  }
  return result + " (" + (types == "void" ? "" : types) + ")";
}

/// D...: half precision and what C++11 added.
std::string Parser::ExtendedType() {
  const char code = Next();
  if (code == 'F') {
    const size_t bits = Number();
    if (Accept("b")) return "__bf16";
    if (!Accept("_")) throw Unreadable();
    return "_Float" + std::to_string(bits);
  }
  switch (code) {
    case 'n':
      return "std::nullptr_t";
    case 'h':
      return "__fp16";
    case 'i':
      return "char32_t";
    case 's':
      return "char16_t";
    case 'u':
      return "char8_t";
    case 'a':
      return "auto";
    case 'p':
      return Type() + "...";
    default:
      throw Unreadable();
  }
}

std::string Parser::NamedType() {
  std::string name;
  if (Peek() == 'T') {
    if (Peek(1) == 's' || Peek(1) == 'u' || Peek(1) == 'e') at_ += 2;
    name = Peek() == 'T' ? TemplateParam() : Name();
    if (Peek() == 'I') {  // a template template parameter
      Remember(name);
      name += TemplateArgs();
    }
  } else if (Peek() == 'S' && Peek(1) != 't') {
    name = Substitution();
    if (Peek() != 'I') return name;  // remembered already
    name += TemplateArgs();
  } else {
    name = Name();
  }
  Remember(name);
  return name;
}

std::string Parser::Type() {
  const Level level(this);
  std::string type;
  const char code = Peek();
  if (const std::string_view builtin = BuiltinType(code); !builtin.empty()) {
    Next();
    return std::string(builtin);
  }
  switch (code) {
    case 'P':
      Next();
      type = Type() + "*";
      break;
    case 'R':
      Next();
      type = Type() + "&";
      break;
    case 'O':
      Next();
      type = Type() + "&&";
      break;
    case 'K':
      Next();
      type = Type() + " const";
      break;
    case 'V':
      Next();
      type = Type() + " volatile";
      break;
    case 'F':
      Next();
      type = FunctionType();
      break;
    case 'u':
      Next();
      type = SourceName();
      break;
    case 'D':
      Next();
      return ExtendedType();
    case 'A': {
      Next();
      const std::string size = IsDigit(Peek()) ? std::to_string(Number()) : "";
      if (!Accept("_")) throw Unreadable();
      type = Type() + " [" + size + "]";
      break;
    }
    default:
      return NamedType();
  }
  type = Cut(std::move(type));
  Remember(type);
  return type;
}

/// The identifiers in text that could not be parsed, as one argument list.
std::string IdentifiersIn(std::string_view text) {
  std::string list;
  for (size_t at = 0; at < text.size() && list.size() < kMaxOutput;) {
    if (!IsDigit(text[at])) {
      ++at;
      continue;
    }
    size_t length = 0;
    while (at < text.size() && IsDigit(text[at]) && length < kMaxWord) {
      length = length * 10 + static_cast<size_t>(text[at++] - '0');
    }
    const std::string_view word = text.substr(at, std::min(length, kMaxWord));
    if (word.size() < 3 || IsDigit(word[0])) continue;
    if (!std::all_of(word.begin(), word.end(), IsWord)) continue;
    if (!list.empty()) list += ", ";
    list += word;
    at += word.size();
  }
  return list;
}

}  // namespace

std::optional<std::string> Demangle(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return std::nullopt;
  mangled.remove_prefix(2);
  mangled = mangled.substr(0, kMaxInput);
  Parser parser(mangled);
  try {
    return parser.Name();
  } catch (const Unreadable&) {
    std::string name = parser.partial();
    const std::string rest = IdentifiersIn(parser.behind_partial());
    if (name.empty() && rest.empty()) return std::nullopt;
    if (name.empty()) return rest;
    if (name.find('<') == std::string::npos) name += "<" + rest + ">";
    return name;
  }
}

}  // namespace inferdiff
