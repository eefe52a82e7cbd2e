// SPDX-License-Identifier: Apache-2.0
#include "check/read/bundle.h"

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "base/kinds.h"
#include "check/read/ansible.h"
#include "check/read/markdown.h"
#include "check/read/prose.h"
#include "check/read/shell.h"
#include "check/read/templates.h"
#include "doc/json.h"
#include "doc/members.h"
#include "doc/yaml.h"
#include "schema/schema.h"

namespace railbed::check {

using doc::Value;

namespace {

// The items of a `kind: List` or `kind: SriovNetworkList`; null for any other object.
const Value::Array* list_items(const Value& value, const std::string& kind) {
  if (!kind.ends_with("List") || find_kind(kind) != nullptr) return nullptr;
  const Value* items = value.find("items");
  return items ? items->as_array() : nullptr;
}

enum class Form { kManifest, kMarkdown, kShell, kProse };

std::string lower_ending(std::string_view name) {
  const size_t dot = name.rfind('.');
  std::string ending(dot == std::string_view::npos ? "" : name.substr(dot));
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

// Whether a line of `text` begins with `key`, ignoring blanks and the dash of a list item.
bool has_line_with(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    size_t first = at;
    while (first > 0 && (text[first - 1] == ' ' || text[first - 1] == '\t' || text[first - 1] == '-')) --first;
    if (first == 0 || text[first - 1] == '\n') return true;
  }
  return false;
}

bool looks_like_manifest(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (text[first] == '{') return text.find("\"kind\"") != std::string_view::npos;
  return has_line_with(text, "apiVersion:") || has_line_with(text, "kind:") ||
         has_line_with(text, "kubernetes.core.k8s:");
}

Form form_of(const doc::Source& source) {
  const std::string ending = lower_ending(source.name);
  if (ending == ".yaml" || ending == ".yml" || ending == ".json") return Form::kManifest;
  if (ending == ".md" || ending == ".markdown" || ending == ".adoc" || ending == ".asciidoc") return Form::kMarkdown;
  if (ending == ".sh" || ending == ".bash" || source.text.starts_with("#!")) return Form::kShell;
  if (has_fence(source.text)) return Form::kMarkdown;
  if (ending == ".txt" || ending == ".rst") return Form::kProse;
  const size_t first = source.text.find_first_not_of(" \t\r\n");
  const bool braces = first != std::string::npos && (source.text[first] == '{' || source.text[first] == '[');
  const bool begins = source.text.starts_with("---") || source.text.starts_with("#") ||
                      source.text.compare(std::min(first, source.text.size()), 11, "apiVersion:") == 0 ||
                      source.text.compare(std::min(first, source.text.size()), 5, "kind:") == 0;
  return braces || begins ? Form::kManifest : Form::kProse;
}

class Reader {
 public:
  Reader(Bundle& bundle, doc::Diagnostics& out) : bundle_(bundle), out_(out) {}

  void read(const doc::SourcePtr& given) {
    const Form form = form_of(*given);
    const doc::SourcePtr source = form == Form::kMarkdown ? without_callouts(given) : given;
    bundle_.sources.push_back(source);
    if (form != Form::kManifest && is_unreadable(source)) return;
    const doc::LineIndex index(source);
    source_ = source;
    index_ = &index;
    const doc::Region whole{0, source->text.size()};
    switch (form) {
      case Form::kManifest:
        read_manifests();
        break;
      case Form::kMarkdown:
        read_page();
        break;
      case Form::kShell:
        read_commands(whole, ShellText::kFile);
        break;
      case Form::kProse:
        read_text(whole, ProseOf::kPlainText);
        break;
    }
  }

 private:
  std::string_view text_of(doc::Region region) const {
    return std::string_view(source_->text).substr(region.begin, region.end - region.begin);
  }

  bool is_unreadable(const doc::SourcePtr& source) {
    const std::string& text = source->text;
    if (text.size() > doc::kMaxSourceBytes) {
      out_.error("RB-DOC-003", {source},
                 fmt::format("{} bytes are too many; the limit is {}", text.size(), doc::kMaxSourceBytes));
      return true;
    }
    if (!text.starts_with("\xFF\xFE") && !text.starts_with("\xFE\xFF")) return false;
    out_.error("RB-DOC-003", {source}, "the file is UTF-16").with_fix("save it as UTF-8");
    return true;
  }

  void read_manifests() {
    doc::Diagnostics found;
    std::vector<Value> values = doc::parse_yaml(source_, found);
    if (values.size() == 1 && !found.has_errors()) check_json(found);
    if (const std::string why = why_not_read(*source_, found); !why.empty()) {
      out_.note("RB-DOC-005", index_->at(0, 1), "not read: " + why).that_says(doc::Says::kNotRead);
      return;
    }
    out_.append(std::move(found));
    add_all(std::move(values), Origin::kFile);
  }

  // YAML allows more than JSON (a ',' before '}', comments), which programs that read *.json refuse.
  void check_json(doc::Diagnostics& found) const {
    if (lower_ending(source_->name) != ".json" || is_other_json(source_->text)) return;
    doc::Diagnostics as_json;
    doc::parse_json(source_, as_json);
    for (const doc::Diagnostic& one : as_json.all())
      if (one.severity == doc::Severity::kError) found.mutable_all().push_back(one);
  }

  void read_page() {
    for (const Block& block : split_page(source_->text)) {
      const doc::Region region{block.begin, block.end, block.indent};
      if (!block.fence) {
        read_text(region, ProseOf::kPage);
        continue;
      }
      if (!block.closed)
        out_.warning("RB-DOC-002", index_->at(block.opening, 3), "the block that begins here is never closed")
            .with_fix("end it with a line of the same marks");
      read_fence(region, language_of(block.info));
    }
  }

  void read_fence(doc::Region region, BlockLanguage language) {
    const std::string_view text = text_of(region);
    switch (language) {
      case BlockLanguage::kManifest:
        if (is_script(text))
          read_commands(region, ShellText::kScript);
        else if (!is_other_json(text))
          read_block(region);
        return;
      case BlockLanguage::kShell:
        read_commands(region, ShellText::kScript);
        return;
      case BlockLanguage::kConsole:
        read_commands(region, ShellText::kScript);
        return;
      case BlockLanguage::kUnsaid:
        if (looks_like_manifest(text) && !is_console(text))
          read_block(region);
        else if (is_console(text))
          read_commands(region, ShellText::kScript);
        else
          add_prose(region);
        return;
      case BlockLanguage::kOther:
        return;
    }
  }

  void read_block(doc::Region region) {
    doc::Diagnostics found;
    std::vector<Value> values = doc::parse_yaml(source_, *index_, region, found);
    const std::string why = found.has_errors() ? why_block_not_read(text_of(region)) : "";
    if (why.empty())
      out_.append(std::move(found));
    else
      out_.note("RB-DOC-005", index_->at(region.begin + region.indent, 1), "not read: " + why)
          .that_says(doc::Says::kNotRead);
    const size_t before = bundle_.documents.size();
    add_all(std::move(values), Origin::kFence);
    if (leaves_lines_out(text_of(region)))
      for (size_t i = before; i < bundle_.documents.size(); ++i) bundle_.documents[i].elided = true;
  }

  // Whether the text is JSON of another program: an editor's settings, a server's answer.
  static bool is_other_json(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
    return text.find("\"kind\"") == std::string_view::npos && text.find("\"apiVersion\"") == std::string_view::npos &&
           text.find("\"cniVersion\"") == std::string_view::npos;
  }

  // Whether a block that is marked as YAML is a script with a here-document: `cat <<EOF | kubectl apply -f -`.
  static bool is_script(std::string_view text) {
    static constexpr std::string_view kPrograms[] = {"cat ", "kubectl ", "oc ", "tee ", "sudo "};
    for (size_t at = 0; at < text.size();) {
      const PageLine line = line_at(text, at, text.size());
      at = line.next;
      const std::string_view content =
          line.text.substr(std::min(line.text.find_first_not_of(" \t$"), line.text.size()));
      if (content.starts_with("apiVersion:") || content.starts_with("kind:")) return false;
      const bool program =
          std::ranges::any_of(kPrograms, [&](std::string_view one) { return content.starts_with(one); });
      if (program && content.find("<<") != std::string_view::npos) return true;
    }
    return false;
  }

  // Whether the first line with content is a command.
  static bool is_console(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const PageLine line = line_at(text, at, text.size());
      at = line.next;
      const size_t first = line.text.find_first_not_of(" \t");
      if (first == std::string_view::npos) continue;
      if (prompt_length(line.text) > 0) return true;
      if (line.text[first] != '#') return looks_like_command(line.text);
    }
    return false;
  }

  void read_commands(doc::Region region, ShellText kind) {
    std::string where;
    const auto here_document = [this](doc::Region document) {
      if (looks_like_manifest(text_of(document)))
        add_all(doc::parse_yaml(source_, *index_, document, out_), Origin::kScript);
    };
    read_shell(source_, *index_, region, kind, bundle_, here_document, where);
  }

  void read_text(doc::Region region, ProseOf kind) {
    std::vector<Document> documents;
    read_prose(source_, *index_, region, kind, bundle_, documents, out_);
    for (Document& document : documents) keep(std::move(document));
  }

  void add_prose(doc::Region region) {
    for (size_t at = region.begin; at < region.end;) {
      const PageLine line = line_at(source_->text, at, region.end);
      at = line.next;
      const size_t first = line.text.find_first_not_of(" \t");
      if (first == std::string_view::npos) continue;
      bundle_.prose.push_back({line.text.substr(first), index_->at(line.begin + first, line.text.size() - first)});
    }
  }

  void add_all(std::vector<Value> values, Origin origin) {
    for (Value& value : values) {
      if (is_ansible(value)) {
        for (Value& definition : ansible_definitions(value, *index_, out_))
          add(std::move(definition), Origin::kAnsible);
        continue;
      }
      add(std::move(value), origin);
    }
  }

  void add(Value value, Origin origin) {
    const std::string kind = doc::text_in(value, "kind");
    if (kind.empty()) {
      if (origin == Origin::kFile) bundle_.without_kind.push_back(std::move(value));
      return;
    }
    if (const Value::Array* items = list_items(value, kind)) {
      for (const Value& item : *items) add(item, origin);
      return;
    }
    Document document{.value = std::move(value), .origin = origin};
    describe(document);
    keep(std::move(document));
  }

  void keep(Document document) {
    if (!is_known(document)) ++bundle_.unknown_kinds[document.kind];
    bundle_.documents.push_back(std::move(document));
  }

  Bundle& bundle_;
  doc::Diagnostics& out_;
  doc::SourcePtr source_;
  const doc::LineIndex* index_ = nullptr;
};

}  // namespace

void describe(Document& document) {
  document.kind = doc::text_in(document.value, "kind");
  document.api_version = doc::text_in(document.value, "apiVersion");
  const Value* metadata = document.value.find("metadata");
  document.name = metadata ? doc::text_in(*metadata, "name") : "";
  document.ns = metadata ? doc::text_in(*metadata, "namespace") : "";
  if (document.ns.empty()) document.ns = "default";
}

std::string Document::label() const {
  if (name.empty()) return kind;
  return ns == "default" ? fmt::format("{} {}", kind, name) : fmt::format("{} {}/{}", kind, ns, name);
}

bool is_known(const Document& document) {
  // Asks find_kind first, because find_schema reads the schema of the kind.
  return find_kind(document.kind) != nullptr || schema::find_schema(document.api_version, document.kind) != nullptr;
}

Bundle read_bundle(const std::vector<doc::SourcePtr>& sources, doc::Diagnostics& diagnostics) {
  Bundle bundle;
  Reader reader(bundle, diagnostics);
  for (const doc::SourcePtr& source : sources) reader.read(source);
  return bundle;
}

}  // namespace railbed::check
