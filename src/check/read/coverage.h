// SPDX-License-Identifier: Apache-2.0
// How much of its input a run judged: documents by class, what was not read and why, pods.
//
// Why: "0 errors" of a run that read nothing looks like that of a run that found nothing wrong. Every format prints
// this, and a finding of absence asks it whether something that was not read could be what is missing.
// Threading: plain values.
// Failure: none.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace railbed::check {

// Something that exists and was not read.
struct NotRead {
  std::string name;     // a file, or what a file refers to
  std::string why;      // "a Helm template"
  std::string command;  // what to run to check it; may be empty
  bool makes = false;   // it may make objects of Kubernetes
};

// Why a document is not judged as a manifest is.
struct ClassReason {
  std::string object;  // "SriovNetworkNodePolicy ops/rail0"
  std::string place;   // "policy.yaml:4:1"
  std::string name;    // of its class: "template"
  std::string why;     // "values are filled in by envsubst (${VFS})"
};

struct Coverage {
  std::map<std::string, int> classes;  // documents by class: "manifest", "part", …
  std::vector<ClassReason> reasons;    // of those that are no manifests
  std::vector<NotRead> not_read;
  int pods = 0;  // pods and templates of pods

  // Appends that of another part of the run.
  void add(Coverage other);
};

}  // namespace railbed::check
