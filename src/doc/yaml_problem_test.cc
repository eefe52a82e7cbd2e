// SPDX-License-Identifier: Apache-2.0
#include "doc/yaml_problem.h"

#include <gtest/gtest.h>

#include "doc/yaml.h"

namespace railbed::doc {
namespace {

struct BrokenText {
  std::string text;
  const char* expected;
};

const BrokenText kCases[] = {
    {"spec:\n  resourceName: mlx_test # policy name\n  nodeSelector:\n    a: \"true\"\n"
     "  numVfs: 8  # number of vf per node\n nicSelector:\n    vendor: \"15b3\"\n",
     "a.yaml:6:2: error: 'nicSelector' begins at column 2, but its neighbour 'numVfs' (line 5) at column 3 "
     "[RB-YAML-002]\n     6 |  nicSelector:\n       |  ^~~~~~~~~~~\n"
     "  fix: indent it by 1 blank more, to column 3\n"},
    {"spec:\n  a: 1\n    b: 2\n",
     "a.yaml:3:5: error: 'b' begins at column 5, but its neighbour 'a' (line 2) at column 3 [RB-YAML-002]\n"
     "     3 |     b: 2\n       |     ^\n  fix: indent it by 2 blanks less, to column 3\n"},
    {"spec:\n    a: 1\n  # the others\n  b: 2\n  c: 3\n",
     "a.yaml:2:5: error: 'a' begins at column 5, but its neighbours below at column 3 [RB-YAML-002]\n"
     "     2 |     a: 1\n       |     ^\n  fix: indent it by 2 blanks less, to column 3\n"},
    {"list:\n  - a: 1\n    b: 2\n - a: 3\n",
     "a.yaml:4:2: error: '-' begins at column 2, but its neighbour '-' (line 2) at column 3 [RB-YAML-002]\n"
     "     4 |  - a: 3\n       |  ^\n  fix: indent it by 1 blank more, to column 3\n"},
    {"list:\n  - a: 1\n   b: 2\n",
     "a.yaml:3:4: error: 'b' begins at column 4, but its neighbour 'a' (line 2) at column 5 [RB-YAML-002]\n"
     "     3 |    b: 2\n       |    ^\n  fix: indent it by 1 blank more, to column 5\n"},
    {"spec:\n\tnumVfs: 8\n",
     "a.yaml:2:1: error: a tab is used to indent; YAML indents with blanks only [RB-YAML-005]\n"
     "     2 | \tnumVfs: 8\n       | ^\n  fix: replace the tab by blanks\n"},
    {"spec:\n  a: 1\n  \tb: 8\n",
     "a.yaml:3:3: error: a tab is used to indent; YAML indents with blanks only [RB-YAML-005]\n"
     "     3 |   \tb: 8\n       |   ^\n  fix: replace the tab by blanks\n"},
    {"a: \"x\nb: y\n",
     "a.yaml:1:4: error: the quoted text that begins here is never closed [RB-YAML-006]\n"
     "     1 | a: \"x\n       |    ^\n  fix: add the closing \"\n"},
    {"a: \"x\nb: \"y\"\n",
     "a.yaml:1:4: error: the quoted text that begins here is not closed on its line [RB-YAML-006]\n"
     "     1 | a: \"x\n       |    ^\n  fix: add the closing \"\n"},
    {"a: \"x\nb: 1\nc: 2\nd: \"y\"\n",
     "a.yaml:1:4: error: the quoted text that begins here is not closed on its line [RB-YAML-006]\n"
     "     1 | a: \"x\n       |    ^\n  fix: add the closing \"\n"},
    {"image: {REGISTRY}/nvidia/doca:3.1.0\n",
     "a.yaml:1:8: error: {REGISTRY} looks like a placeholder; YAML reads a value that begins with '{' as a "
     "map "
     "[RB-YAML-001]\n     1 | image: {REGISTRY}/nvidia/doca:3.1.0\n       |        ^~~~~~~~~~\n"
     "  fix: write the real value, or put the whole value in double quotes\n"},
    {"spec:\n  ...\n  template:\n    a: b\n",
     "a.yaml:2:3: error: '...' in place of omitted content is not valid YAML [RB-YAML-001]\n"
     "     2 |   ...\n"
     "       |   ^~~\n"
     "  fix: write what belongs here, or make the line a comment: '# ...'\n"},
    {"data:\n  mode: {FAST}/slow\n  other: x\n",
     "a.yaml:2:9: error: {FAST} looks like a placeholder; YAML reads a value that begins with '{' as a map "
     "[RB-YAML-001]\n     2 |   mode: {FAST}/slow\n       |         ^~~~~~\n"
     "  fix: write the real value, or put the whole value in double quotes\n"},
    {"a: {{ .Values.x }}/y\n",
     "a.yaml:1:5: error: a key must be a text, not a map or a list [RB-YAML-010]\n"
     "     1 | a: {{ .Values.x }}/y\n       |     ^\n"
     "  fix: '{{' is a template: render it first (helm template, kustomize build), or put the value in "
     "quotes\n"},
    {"{{- if .Values.x }}\na: 1\n",
     "a.yaml:1:2: error: a key must be a text, not a map or a list [RB-YAML-010]\n     1 | {{- if .Values.x }}\n       "
     "|  ^\n  fix: '{{' is a template: render it first (helm template, kustomize build), or put the value in quotes\n"},
    {"a: 1\n{{- if .Values.x }}\nb: 1\n{{- end }}\n",
     "a.yaml:2:1: error: '{{' is a template, not YAML [RB-YAML-001]\n     2 | {{- if .Values.x }}\n       | "
     "^~\n  fix: render the template first (helm template, kustomize build), or put the value in quotes\n"},
    {"a: @b\n",
     "a.yaml:1:4: error: a value cannot begin with '@' [RB-YAML-001]\n     1 | a: @b\n       |    ^\n"
     "  fix: put the value in double quotes\n"},
    {"a: *\n",
     "a.yaml:1:4: error: a value that begins with '*' is a reference in YAML [RB-YAML-001]\n"
     "     1 | a: *\n       |    ^\n  fix: put the value in double quotes\n"},
    {"a: *b\n",
     "a.yaml:1:4: error: alias '*b' refers to an unknown anchor [RB-YAML-008]\n"
     "     1 | a: *b\n"
     "       |    ^~\n"
     "  fix: mark the value it means with '&b', or put the text in quotes\n"},
    {"a: &b [*b]\n",
     "a.yaml:1:8: error: alias '*b' refers to a node that contains it [RB-YAML-008]\n"
     "     1 | a: &b [*b]\n"
     "       |        ^~\n"},
    {"a: b: c\n",
     "a.yaml:1:5: error: a second ': ' on this line; a plain value cannot contain it [RB-YAML-001]\n"
     "     1 | a: b: c\n       |     ^\n  fix: put the value in double quotes\n"},
    {"a: \"b\" c\nd: 1\n",
     "a.yaml:1:8: error: text after the closing quote of the value [RB-YAML-001]\n"
     "     1 | a: \"b\" c\n       |        ^\n  fix: put the whole value inside the quotes\n"},
    {"a: 1\nb:2\nc: 3\n",
     "a.yaml:2:1: error: a key without ': ' after it [RB-YAML-001]\n"
     "     2 | b:2\n"
     "       | ^~~\n"
     "  fix: write a space after the colon: 'b: 2'\n"},
    {"a: [1, 2\nb: 3\n",
     "a.yaml:2:2: error: expected ',' or ']' in what '[' opened [RB-YAML-001]\n     2 | b: 3\n       |  ^\n"
     "  note: a.yaml:1:4: it was opened here\n     1 | a: [1, 2\n       |    ^\n"},
    {"a: 1\nb: 2\na: 3\n",
     "a.yaml:3:1: error: duplicate key 'a' [RB-YAML-003]\n"
     "     3 | a: 3\n"
     "       | ^\n"
     "  note: a.yaml:1:1: first defined here\n"
     "     1 | a: 1\n"
     "       | ^\n"},
    {"a: \"\\q\"\n",
     "a.yaml:1:5: error: found unknown escape character while parsing a quoted scalar [RB-YAML-001]\n"
     "     1 | a: \"\\q\"\n       |     ^\n"},
    {std::string("a: b\x01\n"),
     "a.yaml:1:5: error: character U+0001 is not allowed in YAML [RB-YAML-004]\n     1 | a: b\\x01\n"
     "       |     ^~~~\n  fix: remove it, or write it as an escape in double quotes\n"},
    {"<<: 5\n",
     "a.yaml:1:5: error: '<<' takes maps, found an integer [RB-YAML-009]\n     1 | <<: 5\n"
     "       |     ^\n"},
    {"a: .inf\n",
     "a.yaml:1:4: error: infinite and undefined numbers cannot be used [RB-YAML-012]\n     1 | a: .inf\n"
     "       |    ^~~~\n  fix: put it in double quotes if a text is meant\n"},
    {"a: !secret x\n",
     "a.yaml:1:4: error: tag '!secret' does not fit this value or is not known [RB-YAML-011]\n"
     "     1 | a: !secret x\n       |    ^~~~~~~~~\n"},
    {"apiVersion: v1\nmetadata:\nname: x\nannotations:\nspec:\ncontainers:\n- name: a\nimage: b\nname: y\n",
     "a.yaml:9:1: error: duplicate key 'name' [RB-YAML-003]\n"
     "     9 | name: y\n"
     "       | ^~~~\n"
     "  note: a.yaml:3:1: first defined here\n"
     "     3 | name: x\n"
     "       | ^~~~\n"},
    {"a: 1\n- \nb:\nY\n",
     "a.yaml:2:1: error: did not find expected key while parsing a block mapping [RB-YAML-001]\n     2 | - \n       | "
     "^\n  note: a.yaml:1:1: it begins here\n     1 | a: 1\n       | ^\n"},
    {"spec:\n  - a\n  b: 1\n",
     "a.yaml:3:3: error: did not find expected '-' indicator while parsing a block collection [RB-YAML-001]\n"
     "     3 |   b: 1\n       |   ^\n  note: a.yaml:2:3: it begins here\n     2 |   - a\n       |   ^\n"},
};

TEST(YamlProblem, IsReportedWithItsPlaceAndWhatToDo) {
  for (const BrokenText& c : kCases) {
    Diagnostics diagnostics;
    parse_yaml(std::make_shared<const Source>(Source{"a.yaml", c.text}), diagnostics);
    EXPECT_EQ(render(diagnostics), c.expected) << c.text;
  }
}

}  // namespace
}  // namespace railbed::doc
