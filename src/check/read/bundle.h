// SPDX-License-Identifier: Apache-2.0
// The content of the checked files: objects, commands, prose.
//
// Why: users keep manifests in YAML and JSON files, in fenced blocks of Markdown, in Ansible tasks and in pages that
// lost their indentation, and one mistake in five is in a command next to them. All of it becomes one Bundle in which
// every part has its location.
// Threading: plain values; the functions are pure.
// Failure: diagnostics (RB-YAML-…, RB-JSON-…, RB-DOC-…); the readable parts are still returned.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/read/coverage.h"
#include "check/read/document_class.h"
#include "doc/diagnostic.h"
#include "doc/text.h"
#include "doc/value.h"

namespace railbed::check {

struct Engine;

enum class Origin : uint8_t {
  kFile,     // a document of a YAML or JSON file
  kFence,    // a fenced block of Markdown
  kProse,    // a text without fences, where the object begins with `apiVersion:`
  kScript,   // a here-document of a command; the shell fills in ${…}
  kAnsible,  // the definition of a kubernetes.core.k8s task
};

// What is done with an object, where that is written: a task's `state`, the command behind a here-document.
enum class Verb : uint8_t { kApply, kPatch, kDelete };

// How an object's namespace is known.
enum class NamespaceFrom : uint8_t {
  kWritten,
  kAdded,    // a kustomization, an Application, `kubectl -n` puts it there
  kUnknown,  // it is that of the user who applies the object; "default" stands for it
};

// One Kubernetes object as written.
struct Document {
  doc::Value value;  // an object that has `kind`
  std::string kind;
  std::string api_version;
  std::string name;  // metadata.name; empty where absent
  std::string ns;    // metadata.namespace; "default" where absent
  Origin origin = Origin::kFile;
  // The object lost its line breaks or indentation, and the schema decided where each field belongs, so fields in the
  // wrong place cannot be recognized.
  bool rebuilt = false;
  bool elided = false;     // in a page that leaves lines out ("..."): what is missing is no mistake
  bool patch = false;      // it changes another object
  bool data = false;       // a program reads the file, and nothing applies it
  std::string chart = {};  // that has it among its templates; empty: none
  NamespaceFrom ns_from = NamespaceFrom::kUnknown;
  Verb verb = Verb::kApply;
  DocumentClass cls = {};          // as classify() decides
  const Engine* engine = nullptr;  // of a template; null: a placeholder of a page, or empty texts
  doc::Span filled_in = {};        // its first mark or placeholder
  size_t block = 0;                // where its block begins in a page
  // The object that holds it ("ConfigurationPolicy keel"), and what it is there.
  std::string carrier = {};
  DocumentKind carried_as = DocumentKind::kManifest;
  bool carries = false;           // it holds others
  std::string name_in_file = {};  // where a kustomization renames it; otherwise empty
  doc::Span renamed_at = {};      // the kustomization's namePrefix or nameSuffix

  // The API group; empty for the core group and where there is no apiVersion.
  std::string_view group() const;
  bool has_namespace() const { return ns_from != NamespaceFrom::kUnknown; }
  // "SriovNetwork ai/rail0"
  std::string label() const;
};

struct Word {
  std::string text;  // without quotes
  doc::Span span;
};

// A command for a person or a script, with the output that was pasted below it.
struct Command {
  // The program first, without what only leads to it: prompts, `sudo`, `VAR=…`, `kubectl exec POD --`, `oc debug node/…
  // -- chroot /host`. Each program of a pipe is a command by itself.
  std::vector<Word> words;
  std::vector<Word> environment;  // `VAR=x` before it
  std::string where;              // the pod or node in which an exec or debug runs it; empty: here
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
  std::map<std::string, int> unknown_kinds;  // ignored ones, with their number
  std::vector<doc::Value> without_kind;      // documents of manifest files that are no objects
  std::vector<Document> aside;               // that rules do not read: assertions, patches, copies
  std::vector<NotRead> not_read;
  // What was changed for reading only (page_text.h): the text that the user gave. Locations are the same in both.
  std::map<const doc::Source*, doc::SourcePtr> as_given;

  // The values that a kustomization sets before it applies them: where each begins, and ends.
  std::map<std::pair<const doc::Source*, uint32_t>, uint32_t> set_later;

  // The same place in the text that the user gave.
  doc::Span given(doc::Span span) const;
  void add_set_later(const doc::Span& value);
  bool is_set_later(const doc::Span& span) const;
};

// Fills kind, api_version, name, ns and ns_from from the value.
void describe(Document& document);

// Whether railbed knows the document's kind in its group: it reads it, leaves it to others, or has a schema for it.
bool is_known(const Document& document);

// A whole tree is read without the schemas of APIs (api_schemas.h), which nothing but the guard of repairs looks at.
enum class ApiSchemas : uint8_t { kKept, kDropped };

// The name of a source decides how it is read: .yaml, .yml and .json are manifests, .md, .rst and .adoc pages of their
// languages, .sh commands, .txt prose; files of other languages (.tf, .jsonnet) are not read. For anything else
// (standard input) the content decides.
Bundle read_bundle(const std::vector<doc::SourcePtr>& sources, doc::Diagnostics& diagnostics,
                   ApiSchemas schemas = ApiSchemas::kKept);

}  // namespace railbed::check
