# Write the gallery, the claims or another folder of texts as a C file:
#     cmake -DDIR=models -DOUT=gallery.c -DENDING=mech -DTABLE=gallery \
#         -DHEADER=session/gallery.h -P EmbedModels.cmake
#
# An entry's name is its path below DIR without the ending; ENDING may be
# the name of a file. Texts are arrays of bytes, since
# the standard only promises string literals of 4095 characters. The table ends with {0, 0}.
file(GLOB_RECURSE files RELATIVE "${DIR}" "${DIR}/*.${ENDING}")
if(EXISTS "${DIR}/${ENDING}") # one file
  set(files "${ENDING}")
endif()
list(SORT files)
set(texts "")
set(table "")
set(count 0)
string(REPEAT "." 80 line) # sixteen bytes
foreach(file IN LISTS files)
  file(READ "${DIR}/${file}" bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(${line})" "\\1\n    " bytes "${bytes}")
  string(REGEX REPLACE "\\.${ENDING}$" "" name "${file}")
  string(APPEND texts "/* ${file} */\n"
    "static const unsigned char text_${count}[] = {\n    ${bytes}0};\n\n")
  string(APPEND table "    {\"${name}\", (const char *)text_${count}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE "${OUT}" "#include \"${HEADER}\"

${texts}const struct ns_${TABLE}_entry ns_${TABLE}_entries[] = {
${table}    {0, 0},
};

const unsigned ns_${TABLE}_count = ${count};
")
