// SPDX-License-Identifier: Apache-2.0
// Fields that a kustomization sets in objects of its files: replacements, patches of JSON, and transformers with them.
//
// Why: the value in the file is then never applied ("_replaced_", an empty text, any number). Nothing can be said about
// it, and nothing about what is compared with it.
// Threading: pure functions.
// Failure: none; what does not have the form of such an entry is skipped.
// Source: kustomize's reference of replacements (fieldPaths) and patches; RFC 6902 and 6901.
#pragma once

#include <string>
#include <vector>

#include "check/read/bundle.h"

namespace railbed::check {

struct SetField {
  std::string kind;                // of the objects; empty: any
  std::string name;                // of the object; empty: any
  std::vector<std::string> steps;  // "spec", "containers", "[name=c]", "0", "*"

  bool takes(const Document& document) const;
};

// What the kustomization `name` sets, with what the files that it lists for that say.
std::vector<SetField> fields_set_by(const doc::Value& kustomization, const std::string& name, const Bundle& bundle);

// The values to which the steps lead.
std::vector<const doc::Value*> values_of_steps(const doc::Value& object, const std::vector<std::string>& steps);

}  // namespace railbed::check
