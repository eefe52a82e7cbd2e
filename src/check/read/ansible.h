// SPDX-License-Identifier: Apache-2.0
// Kubernetes objects inside Ansible playbooks and task lists.
//
// Why: many clusters get their manifests from `kubernetes.core.k8s` tasks, whose `definition` is an object, a list of
// them, or a text. Jinja (`"{{ vf_count }}"`) is filled in as far as the play defines it (jinja.h). The task's `state`
// says what is done with the object: of one that is deleted only the identity is written, of one that is patched a
// part. Threading: pure functions. Failure: diagnostics of the YAML reader for a definition that is a text.
#pragma once

#include <vector>

#include "check/read/bundle.h"
#include "doc/diagnostic.h"
#include "doc/text.h"
#include "doc/value.h"

namespace railbed::check {

// Whether a document is a playbook or a list of tasks that concerns Kubernetes or looks like plays.
bool is_ansible(const doc::Value& document);

struct AnsibleDefinition {
  doc::Value object;
  Verb verb = Verb::kApply;
};
struct AnsibleContent {
  std::vector<AnsibleDefinition> definitions;
  std::vector<NotRead> not_read;  // files that tasks apply: `src`, `template`
};
AnsibleContent ansible_content(const doc::Value& document, const doc::LineIndex& index, doc::Diagnostics& out);

}  // namespace railbed::check
