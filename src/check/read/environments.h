// SPDX-License-Identifier: Apache-2.0
// Which files of a run are of different environments: demos and clusters side by side in one repository.
//
// Why: the operator of one demo says nothing about the policy of another one. Folders are apart if nothing applies
// files of both (a kustomization, an Application, a script), none names what only the other makes, and one of them is
// complete: it has networks or pods, and all that they need. Folders that complete each other (network/, pods/) are one
// environment.
// Threading: values; pure functions.
// Failure: none.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "check/read/bundle.h"

namespace railbed::check {

class Environments {
 public:
  Environments() = default;
  explicit Environments(const Bundle& bundle);

  // Whether two files are of different environments, as far as no kustomization takes both.
  bool are_apart(std::string_view one, std::string_view other) const;

  // Whether two files of different folders are of one environment: something applies both, one is in a folder around
  // the other's, or one folder has what the other one names and does not make.
  bool complete_each_other(std::string_view one, std::string_view other) const;

 private:
  using Names = std::set<std::string, std::less<>>;

  // Names of networks and resources that a file, or a folder, makes and needs.
  struct Content {
    Names makes;
    Names needs;

    void add(const Content& other);
    bool is_complete() const;
    // Whether it needs something that it does not make and `other` does.
    bool depends_on(const Content& other) const;
  };

  void add_document(const Document& document, const std::string& file);
  void add_appliers(const Bundle& bundle);
  bool are_applied_together(std::string_view one, std::string_view other) const;

  std::map<std::string, Content, std::less<>> files_;                     // by plain path
  std::map<std::string, Content, std::less<>> folders_;                   // of all files below
  std::map<std::string, std::vector<std::string>, std::less<>> applied_;  // plain paths, by what applies them
};

}  // namespace railbed::check
