// SPDX-License-Identifier: Apache-2.0
// Where objects begin in the documents and blocks of a text, by its lines alone.
//
// Why: an error of YAML hides the object that it is in. Whether an API server would have got it (or only Helm, Ansible,
// a workflow, a reader of a page) still shows in the lines around it. Each text is looked through once, since it may
// have thousands of errors. Threading: one owner. Failure: none.
#pragma once

#include <map>
#include <vector>

#include "doc/text.h"

namespace railbed::check {

class TextParts {
 public:
  // Whether a line of the document or block around a place begins an object (apiVersion, but not kustomize's), no
  // further to the right than the place.
  bool is_in_an_object(const doc::Span& place);

 private:
  struct Part {
    size_t begin = 0;
    size_t column = 0;  // of its first object from the left; the largest number: there is none
  };
  static std::vector<Part> parts_of(const doc::Source& source);

  std::map<const doc::Source*, std::vector<Part>> parts_;
};

}  // namespace railbed::check
