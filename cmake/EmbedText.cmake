# embed_text(<target> <name> <file>...): makes the files' text available as
# "<name>.h": struct EmbeddedText {name, text} and Embedded<Name>().
function(embed_text target name)
  set(dir ${CMAKE_BINARY_DIR}/generated)
  set(output ${dir}/${name}.cc)
  list(JOIN ARGN "|" inputs)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAME=${name}
            "-DINPUTS=${inputs}"
            -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_text_script.cmake
    DEPENDS ${ARGN} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_text_script.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
