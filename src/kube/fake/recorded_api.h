// SPDX-License-Identifier: Apache-2.0
// What the API of one version of Kubernetes serves: its kinds, verbs and fields, as tools/kubernetes_api records them
// in testdata/kubernetes-*/api.txt.
//
// Why: railbed promises versions of Kubernetes that no test machine runs all the time. An API server drops a field that
// it does not know, or refuses the object, so all that railbed writes, reads and is granted is compared with the oldest
// version's own documents at each change.
// Threading: plain values.
// Failure: none; what a file does not have is not served.
// Source: api/openapi-spec/v3 of the module k8s.io/kubernetes.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doc/value.h"

namespace railbed::kube::fake {

class RecordedApi {
 public:
  // `text` is the content of such a file.
  explicit RecordedApi(const std::string& text);

  // Whether a group of Kubernetes is recorded, in any version: "apps"; "" is the core group.
  bool has_group(std::string_view group) const;
  bool serves(std::string_view api_version, std::string_view kind) const;
  // `resource` is a plural, or a part of one: "pods/status".
  bool allows(std::string_view group, std::string_view resource, std::string_view verb) const;

  // The fields of an object that its kind does not have: "spec.template.spec.hostUsers". Lists are gone through, and
  // keys of maps are "*". The kind itself, "Job of batch/v1", where it is not served.
  std::vector<std::string> unknown_fields(const doc::Value& object) const;
  // An object of the kind that has each field, with one item in each list and map; null where it is not served.
  doc::Value full_object(std::string_view api_version, std::string_view kind) const;

 private:
  // A field's type as the file writes it: "", "*", "core.v1.Pod", "[]" and "{}" before one of these.
  using Fields = std::map<std::string, std::string, std::less<>>;

  const std::string* type_of(std::string_view api_version, std::string_view kind) const;
  void compare(const doc::Value& value, std::string_view type, const std::string& path,
               std::set<std::string>& unknown) const;
  doc::Value full_value(std::string_view type, std::set<std::string, std::less<>> around) const;

  std::map<std::pair<std::string, std::string>, std::string> kinds_;  // api version and kind: the type
  std::map<std::string, std::set<std::string, std::less<>>> verbs_;   // "apps daemonsets": verbs
  std::set<std::string, std::less<>> groups_;
  std::map<std::string, Fields, std::less<>> types_;
};

}  // namespace railbed::kube::fake
