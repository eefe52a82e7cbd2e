// SPDX-License-Identifier: Apache-2.0
// Understands the facts of nodes, turns manifests into values, and ends:  bench_parse FACTS MANIFESTS
//
// The floor of bench/check.sh: what any reader of the same files does first, by the same parsers and threads as check.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "doc/yaml.h"
#include "facts/facts_json.h"

namespace {

railbed::doc::SourcePtr read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  auto source = std::make_shared<railbed::doc::Source>(railbed::doc::Source{path, {}});
  source->text.assign(std::istreambuf_iterator<char>(file), {});
  return source;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  railbed::doc::Diagnostics diagnostics;
  const auto nodes = railbed::facts::parse_facts(read(argv[1]), diagnostics);
  const auto documents = railbed::doc::parse_yaml(read(argv[2]), diagnostics);
  return !nodes.empty() && !documents.empty() && !diagnostics.has_errors() ? 0 : 1;
}
