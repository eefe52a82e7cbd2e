// SPDX-License-Identifier: Apache-2.0
// The kustomizations among the files of a run: which files each of them applies, and what it adds to them.
//
// Why: what one apply takes together belongs together, and a kustomization gives objects a namespace and other names
// than their files say. Overlays take the files of their bases, so a file may be a part of several.
// Threading: values; pure functions.
// Failure: none; entries that are not among the files are listed.
// Source: kustomize's reference of kustomization.yaml.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "check/read/bundle.h"
#include "check/read/set_fields.h"

namespace railbed::check {

// What a kustomization adds on the way from a file to the cluster.
struct Additions {
  std::string ns;  // empty: none
  doc::Span ns_span;
  std::string prefix;  // before names
  std::string suffix;
  doc::Span name_span;
  bool operator==(const Additions& other) const {
    return std::tie(ns, prefix, suffix) == std::tie(other.ns, other.prefix, other.suffix);
  }
};

// A kustomization that is applied itself, with everything that it takes.
struct KustomizationRoot {
  std::string file;                        // its kustomization.yaml
  std::map<std::string, Additions> files;  // names of sources
  std::vector<std::string> not_read;       // entries that are no files of the run
  std::vector<SetField> sets;              // what it sets in objects of those files
};

class Kustomizations {
 public:
  Kustomizations() = default;
  explicit Kustomizations(const Bundle& bundle);

  const std::vector<KustomizationRoot>& roots() const { return roots_; }
  bool empty() const { return roots_.empty(); }
  // Whether one apply takes both files.
  bool together(std::string_view one, std::string_view other) const;
  // Whether a kustomization stands in the file's folder, or lists the file.
  bool lists(std::string_view file) const;
  bool in_folder(std::string_view folder) const;
  // What all roots that take a file add to it; nullptr where none does, or they differ.
  const Additions* additions(std::string_view file) const;

 private:
  std::vector<KustomizationRoot> roots_;
  std::map<std::string, std::vector<size_t>, std::less<>> roots_of_;  // by file
  std::set<std::string, std::less<>> folders_;
};

// Notes in the bundle the values that kustomizations set in objects of their files.
void mark_set_fields(Bundle& bundle, const Kustomizations& kustomizations);

}  // namespace railbed::check
