# Writes OUTPUT: one raw string literal array a file, split because compilers
# limit the length of one literal.
string(REPLACE "|" ";" inputs "${INPUTS}")
set(body "// Generated from rules/. Do not edit.\n#include \"base/embedded_text.h\"\n\nnamespace inferdiff {\n\n")
set(table "")
set(index 0)
foreach(input IN LISTS inputs)
  file(READ ${input} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  get_filename_component(base ${input} NAME)
  string(APPEND body
    "const unsigned char k${NAME}_${index}[] = {${bytes}0};\n")
  string(APPEND table
    "      {\"${base}\", {reinterpret_cast<const char*>(k${NAME}_${index}), sizeof(k${NAME}_${index}) - 1}},\n")
  math(EXPR index "${index} + 1")
endforeach()
string(APPEND body "\nconst std::vector<EmbeddedText>& ${NAME}() {\n  static const std::vector<EmbeddedText> table = {\n${table}  };\n  return table;\n}\n\n}  // namespace inferdiff\n")
file(WRITE ${OUTPUT} "${body}")
