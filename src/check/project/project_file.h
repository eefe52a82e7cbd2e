// SPDX-License-Identifier: Apache-2.0
// railbed.yaml: what a repository says about its own manifests, so that every run of `railbed check` finds the same.
//
//   apiVersion: railbed.dev/v1
//   kind: CheckProject
//   exclude: [charts/*/ci, "*.tmpl.yaml"]
//   class: {"docs/snippets/**": page, "test/invalid/": fixture}
//   ignore:
//     legacy/:
//       ids: [RB-RES-001, RB-LABEL]
//       reason: these nodes are set up by Terraform
//   severity: {RB-ADDR-002: note, RB-MTU: warning, RB-CMD-004: off}
//   cluster-networks: [10.128.0.0/14]
//   resource-prefix: nvidia.com
//   environments: [clusters/a, clusters/b]
//
// A file of this name is a project file if its kind says so, or if it has neither apiVersion nor kind but one of the
// keys above. A manifest of this name stays a manifest, and the search goes on in the folder above.
// Patterns are those of .gitignore (path_pattern.h), relative to the folder of the file; the last one that covers a
// file prevails.
// Threading: values; pure.
// Failure: findings RB-PROJECT-001 (unknown field) and 002 (anything else), with their places.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "check/project/path_pattern.h"
#include "doc/diagnostic.h"

namespace railbed::check {

inline constexpr std::string_view kProjectFileName = "railbed.yaml";

// What a project file says that files are, whatever they look like.
enum class GivenClass : uint8_t {
  kManifest,  // is applied unmodified: everything is judged
  kTemplate,  // something fills it in first: what is missing in it is no mistake
  kFixture,   // for tests, perhaps wrong on purpose: nothing is an error
  kPage,      // documentation: shows, and is not applied
};
std::string_view given_class_name(GivenClass given);

enum class SetSeverity : uint8_t { kOff, kNote, kWarning, kError };
std::string_view set_severity_name(SetSeverity severity);

struct ProjectFile {
  struct Exclusion {
    std::string text;
    PathPattern pattern;
    doc::Span span;
  };
  struct Classing {
    std::string text;
    PathPattern pattern;
    GivenClass as = GivenClass::kManifest;
  };
  struct RuleName {
    std::string name;
    doc::Span span;
  };
  struct Ignoring {
    std::string text;
    PathPattern pattern;
    std::vector<RuleName> rules;
    std::string reason;
    doc::Span span;  // of the pattern
  };
  struct Severing {
    std::string name;  // of the rule or family
    SetSeverity severity = SetSeverity::kError;
  };
  struct Environment {
    std::string folder;  // relative to the file, without "." and ".."
    doc::Span span;
  };

  doc::SourcePtr source;
  std::vector<Exclusion> exclude;
  std::vector<Classing> classes;
  std::vector<Ignoring> ignore;
  std::vector<Severing> severity;
  std::vector<IpPrefix> cluster_networks;
  std::string resource_prefix;  // empty: not given
  std::vector<Environment> environments;

  bool excludes(std::string_view path) const;
  std::optional<GivenClass> class_of(std::string_view path) const;
  // That of the longest name that is the id or its family.
  std::optional<SetSeverity> severity_of(std::string_view id) const;
  // The environment whose folder has this file: an index; nullopt where it is in none.
  std::optional<size_t> environment_of(std::string_view path) const;
};

// The project file in this text; nullopt where it is none, or has an error.
std::optional<ProjectFile> read_project_file(const doc::SourcePtr& source, doc::Diagnostics& problems);

// As it would be written, with all that it says.
doc::Value to_value(const ProjectFile& project);

}  // namespace railbed::check
