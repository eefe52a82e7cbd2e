// SPDX-License-Identifier: Apache-2.0
// What stands in the files that are checked: objects, commands, prose.
//
// Why: people keep manifests in YAML and JSON files, in fenced blocks of Markdown, in Ansible tasks and in
// pages whose indentation was lost on the way, and one mistake in five stands in a command beside them. All
// of it becomes one Bundle whose every piece knows its place. Threading: plain values; the functions are
// pure. Failure: diagnostics (RB-YAML-…, RB-JSON-…, RB-DOC-…); what can be read is there all the same.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "doc/diagnostic.h"
#include "doc/text.h"
#include "doc/value.h"

namespace railbed::check {

enum class Origin : uint8_t {
  kFile,     // a document of a YAML or JSON file
  kFence,    // a fenced block of Markdown
  kProse,    // a text without fences, where the object begins with `apiVersion:`
  kScript,   // a here-document of a command; the shell fills in ${…}
  kAnsible,  // the definition of a kubernetes.core.k8s task
};

// One Kubernetes object as it is written.
struct Document {
  doc::Value value;  // an object with `kind`
  std::string kind;
  std::string api_version;
  std::string name;  // metadata.name; empty where absent
  std::string ns;    // metadata.namespace; "default" where absent
  Origin origin = Origin::kFile;
  // Line breaks or indentation were lost and the schema told where each field belongs: fields that stand in
  // the wrong place cannot be told from it.
  bool rebuilt = false;

  // "SriovNetwork ai/rail0"
  std::string label() const;
};

struct Word {
  std::string text;  // without its quotes
  doc::Span span;
};

// A command that a person or a script is to run, with what was pasted below it.
struct Command {
  // The program first, without what only leads to it: prompts, `sudo`, `VAR=…`, `kubectl exec POD --`,
  // `oc debug node/… -- chroot /host`. Words of a pipe's other programs are commands of their own.
  std::vector<Word> words;
  std::vector<Word> environment;  // `VAR=x` before it
  std::string where;              // the pod or node that an exec or debug led to; empty: here
  doc::Span span;
  struct Line {
    std::string_view text;
    doc::Span span;
  };
  std::vector<Line> output;  // the lines pasted below it, to the next command or the end of the block
};

// A line of text outside manifests and commands.
struct Prose {
  std::string_view text;  // points into the source
  doc::Span span;
};

struct Bundle {
  std::vector<doc::SourcePtr> sources;
  std::vector<Document> documents;
  std::vector<Command> commands;
  std::vector<Prose> prose;
  std::map<std::string, int> unknown_kinds;  // left alone, and how many of each
  std::vector<doc::Value> without_kind;      // documents of manifest files that are no objects
};

// Fills kind, api_version, name and ns from the value.
void describe(Document& document);

// Whether railbed knows the document's kind: one that it reads, leaves to others, or has a schema of.
bool is_known(const Document& document);

// How a source is read follows from its name: .yaml, .yml and .json are manifests, .md and .markdown are
// Markdown, .sh commands, .txt, .adoc and .rst prose; anything else (standard input) by its looks.
Bundle read_bundle(const std::vector<doc::SourcePtr>& sources, doc::Diagnostics& diagnostics);

}  // namespace railbed::check
