// SPDX-License-Identifier: Apache-2.0
#include "check/read/bundle.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "base/kinds.h"
#include "base/text.h"
#include "check/read/ansible.h"
#include "check/read/api_schemas.h"
#include "check/read/asciidoc.h"
#include "check/read/block_text.h"
#include "check/read/carriers.h"
#include "check/read/engines.h"
#include "check/read/here_documents.h"
#include "check/read/markdown.h"
#include "check/read/namespaces.h"
#include "check/read/page_text.h"
#include "check/read/paths.h"
#include "check/read/prompts.h"
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

enum class FileForm : uint8_t { kManifest, kMarkdown, kRst, kAsciiDoc, kShell, kHolder, kProse, kUnknown };

std::string lower_ending(std::string_view name) {
  const size_t dot = name.rfind('.');
  const std::string ending = lower(dot == std::string_view::npos ? "" : name.substr(dot));
  return ending.find('/') == std::string::npos ? ending : "";
}

bool begins_like_manifest(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  return text[first] == '{' || text[first] == '[' || text.starts_with("---") || text.starts_with("#") ||
         text.substr(first).starts_with("apiVersion:") || text.substr(first).starts_with("kind:");
}

FileForm form_of(const doc::Source& source) {
  const std::string ending = lower_ending(source.name);
  const auto is_one_of = [&](auto... endings) { return ((ending == endings) || ...); };
  if (is_one_of(".yaml", ".yml", ".json")) return FileForm::kManifest;
  if (is_one_of(".md", ".markdown")) return FileForm::kMarkdown;
  if (is_one_of(".adoc", ".asciidoc")) return FileForm::kAsciiDoc;
  if (ending == ".rst") return FileForm::kRst;
  if (is_one_of(".sh", ".bash") || source.text.starts_with("#!")) return FileForm::kShell;
  if (has_here_documents(source.name)) return FileForm::kHolder;
  if (has_fence(source.text)) return FileForm::kMarkdown;
  if (ending == ".txt") return FileForm::kProse;
  if (begins_like_manifest(source.text)) return FileForm::kManifest;
  // Standard input, a file without an ending, a log.
  const bool text = ending.empty() || is_one_of(".log", ".out", ".output");
  return text ? FileForm::kProse : FileForm::kUnknown;
}

PageLanguage page_language(FileForm form) {
  return form == FileForm::kRst        ? PageLanguage::kRst
         : form == FileForm::kAsciiDoc ? PageLanguage::kAsciiDoc
                                       : PageLanguage::kMarkdown;
}

// One missing "---" is one mistake: the second object's first key says it, its other keys only follow.
void fold_missing_separators(doc::Diagnostics& found) {
  std::vector<doc::Diagnostic>& all = found.mutable_all();
  const auto is_duplicate = [](const doc::Diagnostic& one) {
    return one.says == doc::Says::kDuplicateKey && one.span.known();
  };
  std::vector<bool> dropped(all.size());
  doc::Diagnostic* first = nullptr;  // about the key that the second object begins with
  for (size_t i = 0; i < all.size(); ++i) {
    if (!is_duplicate(all[i])) continue;
    const std::string_view key = written_at(all[i].span);
    const bool begins = key == "apiVersion" || key == "kind";
    const bool follows = first != nullptr && all[i].span.column == first->span.column &&
                         all[i].span.source == first->span.source && all[i].span.line > first->span.line;
    if (begins && (!follows || key == written_at(first->span))) {
      first = &all[i];
    } else if (follows) {
      dropped[i] = true;
      first->message = "a second object begins here: a line '---' is missing before it";
      first->fix = "write a line '---' before the object";
    }
  }
  size_t at = 0;
  std::erase_if(all, [&](const doc::Diagnostic&) { return dropped[at++]; });
}

class Reader {
 public:
  Reader(Bundle& bundle, doc::Diagnostics& out) : bundle_(bundle), out_(out) {}

  void read(const doc::SourcePtr& given) {
    given_ = given;
    partial_.clear();
    if (const OtherLanguage* other = other_language(given->name)) {
      use(given);
      return not_read({fmt::format("a file of {}", other->language), other->command, other->makes});
    }
    const FileForm form = form_of(*given);
    switch (form) {
      case FileForm::kManifest:
        use(given);
        return read_manifests();
      case FileForm::kMarkdown:
      case FileForm::kRst:
      case FileForm::kAsciiDoc:
        return read_page(page_language(form));
      case FileForm::kShell:
        use(readable_script(given));
        if (!is_unreadable()) read_commands({0, source_->text.size()}, ShellText::kFile);
        return;
      case FileForm::kHolder:
        use(readable_script(given));
        if (!is_unreadable()) read_held(manifests_in_script(source_->text, {0, source_->text.size()}));
        return;
      case FileForm::kProse:
        use(given);
        if (!is_unreadable()) read_text({0, source_->text.size()}, ProseOf::kPlainText);
        return;
      case FileForm::kUnknown:
        use(given);
        return not_read({fmt::format("the ending {} is not known", lower_ending(given->name)), ""});
    }
  }

 private:
  // Reads `source`, the given one or one that was changed for reading only.
  void use(const doc::SourcePtr& source) {
    source_ = source;
    index_.emplace(source);
    if (bundle_.sources.empty() || bundle_.sources.back() != given_) bundle_.sources.push_back(source);
    bundle_.sources.back() = source;
    if (source != given_) bundle_.as_given[source.get()] = given_;
  }

  std::string_view text_of(doc::Region region) const {
    return std::string_view(source_->text).substr(region.begin, region.end - region.begin);
  }

  void not_read(const Unreadable& what) {
    const doc::Span place = source_->text.empty() ? doc::Span{.source = source_} : index_->at(0, 1);
    out_.note("RB-DOC-005", place, what.message()).that_says(doc::Says::kNotRead);
    bundle_.not_read.push_back({source_->name, what.why, what.command, what.makes});
  }

  bool is_unreadable() {
    const doc::SourcePtr& source = source_;
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
    if (found.has_errors() && is_json_with_comments(source_->name))
      return not_read({"a file of an editor or a compiler, in JSON with comments", ""});
    if (const Unreadable what = why_not_read(*given_, found); what.unread()) return not_read(what);
    if (found.has_errors()) read_without_marks(values, found);
    if (values.size() == 1 && !found.has_errors()) check_json(found);
    if (const Unreadable what = why_not_read(*given_, found); what.unread()) return not_read(what);
    const Engine* engine = drop_errors_on_marks(*given_, given_->text, found);
    if (engine != nullptr && values.empty()) return not_read({template_of(*engine), engine->advice(), true});
    if (engine != nullptr)
      bundle_.not_read.push_back({source_->name, "in parts " + template_of(*engine), engine->advice(), true});
    fold_missing_separators(found);
    out_.append(std::move(found));
    std::vector<HeldManifest> held;
    if (source_->text.find("apiVersion") != std::string::npos)
      for (const Value& value : values)
        if (doc::text_in(value, "kind").empty())
          std::ranges::move(manifests_in_texts(value, source_->text), std::back_inserter(held));
    add_all(std::move(values), Origin::kFile, {});
    read_held(held);
  }

  void read_held(const std::vector<HeldManifest>& held) {
    for (const HeldManifest& one : held) read_block(one.region, Origin::kScript, one.applied);
  }

  // Marks of engines that are no YAML ("mtu: @MTU@") hide the rest of their document.
  void read_without_marks(std::vector<Value>& values, doc::Diagnostics& found) {
    const doc::SourcePtr bare = without_marks(source_);
    if (bare == source_) return;
    doc::Diagnostics better;
    std::vector<Value> more = doc::parse_yaml(bare, better);
    if (better.count(doc::Severity::kError) >= found.count(doc::Severity::kError)) return;
    use(bare);
    values = std::move(more);
    found = std::move(better);
  }

  // YAML allows more than JSON (a ',' before '}', comments), which programs that read *.json refuse.
  void check_json(doc::Diagnostics& found) const {
    if (lower_ending(source_->name) != ".json" || is_other_json(source_->text)) return;
    if (is_json_with_comments(source_->name)) return;
    doc::Diagnostics as_json;
    doc::parse_json(source_, as_json);
    for (const doc::Diagnostic& one : as_json.all())
      if (one.severity == doc::Severity::kError) found.mutable_all().push_back(one);
  }

  void read_page(PageLanguage language) {
    const std::vector<Block> blocks = split_page(given_->text, language);
    PageText page = readable_page(given_, language, blocks);
    partial_ = std::move(page.partial);
    use(page.source);
    if (is_unreadable()) return;
    for (const Block& block : blocks) {
      if (block.fence)
        read_fence(block);
      else
        read_text({block.begin, block.end, block.indent}, ProseOf::kPage);
    }
  }

  void read_fence(const Block& block) {
    if (block.info == kPageComment) return;
    if (!block.closed)
      out_.warning("RB-DOC-002", index_->at(block.opening, 3), "the block that begins here is never closed")
          .with_fix("end it with a line of the same marks");
    doc::Region region{block.begin, block.end, block.indent};
    switch (block_text(text_of(region), language_of(block.info))) {
      case BlockText::kManifest:
        return read_block(region, Origin::kFence, {});
      case BlockText::kCommands:
        return read_commands(region, ShellText::kScript);
      case BlockText::kRequest:
        region.begin += body_of_request(text_of(region));
        return read_block(region, Origin::kFence, {});
      case BlockText::kProse:
        // A manifest among words is read as one of a text.
        return looks_like_manifest(text_of(region)) ? read_text(region, ProseOf::kPlainText) : add_prose(region);
      case BlockText::kOther:
        return;
    }
  }

  // A page that names two kinds, one below the other, shows which there are: no one applies that.
  static void weaken_sketches(doc::Diagnostics& found) {
    for (doc::Diagnostic& one : found.mutable_all())
      if (one.says == doc::Says::kDuplicateKey && !one.notes.empty() && shows_two_kinds(one.notes[0].span, one.span))
        one.severity = doc::Severity::kWarning;
  }

  // Whether nothing but apiVersion and kind stands from the one place to the other, and not one kind twice.
  static bool shows_two_kinds(const doc::Span& from, const doc::Span& to) {
    if (!from.known() || from.source != to.source || to.offset < from.offset) return false;
    const std::string_view all = from.source->text;
    const auto line_from = [&](const doc::Span& place) { return trimmed(line_at(all, place.offset, all.size()).text); };
    if (line_from(from).starts_with("kind:") && line_from(from) == line_from(to)) return false;
    const std::string_view text = all.substr(from.offset, to.offset - from.offset);
    for (size_t at = 0; at < text.size();) {
      const PageLine line = line_at(text, at, text.size());
      const std::string_view content = trimmed(line.text);
      at = line.next;
      const bool of_kind = content.starts_with("kind:") || content.starts_with("apiVersion:");
      if (!content.empty() && !content.starts_with('#') && !of_kind) return false;
    }
    return true;
  }

  // A block of a page, or a here-document.
  void read_block(doc::Region region, Origin origin, const Applied& applied) {
    doc::Diagnostics found;
    if (origin == Origin::kFence) region.end -= last_prompt_length(text_of(region));
    const std::string_view text = text_of(region);
    const bool partial = leaves_lines_out(text) || partial_.contains(region.begin);
    std::vector<Value> values = doc::parse_yaml(source_, *index_, region, found);
    const Engine* engine = drop_errors_on_marks(*source_, text, found);
    fold_missing_separators(found);
    std::string why;
    if (engine != nullptr && !found.has_errors()) why = "a template; check what is rendered from it";
    if (found.has_errors() && partial) why = "parts of it are left out";
    if (found.has_errors() && why.empty() && origin == Origin::kFence) why = why_block_not_read(text);
    if (why.empty()) {
      if (origin == Origin::kFence) weaken_sketches(found);
      out_.append(std::move(found));
    } else {
      out_.note("RB-DOC-005", index_->at(region.begin + region.indent, 1), "not read: " + why)
          .that_says(doc::Says::kNotRead);
      bundle_.not_read.push_back({index_->at(region.begin, 1).to_string(), why, "", false});
    }
    const size_t before = bundle_.documents.size();
    block_ = region.begin;
    add_all(std::move(values), origin, applied);
    block_ = 0;
    if (partial)
      for (size_t i = before; i < bundle_.documents.size(); ++i) bundle_.documents[i].elided = true;
  }

  void read_commands(doc::Region region, ShellText kind) {
    std::string where;
    const size_t before = bundle_.commands.size();
    const auto here_document = [this](doc::Region document, const Applied& applied) {
      if (!looks_like_manifest(text_of(document))) return;
      // `ssh node <<EOS` with a here-document in it.
      const std::vector<HeldManifest> inner = manifests_in_script(source_->text, document);
      if (inner.empty() || block_text(text_of(document), BlockLanguage::kOther) == BlockText::kManifest)
        return read_block(document, Origin::kScript, applied);
      read_held(inner);
    };
    read_shell(source_, *index_, region, kind, bundle_, here_document, where);
    if (kind != ShellText::kFile) read_shown_files(before, region.indent);
  }

  // `cat policy.yaml`
  static bool shows_a_file(const Command& command) {
    if (command.words.size() != 2 || command.words[1].text.find_first_of("-<>") == 0) return false;
    const std::string& program = command.words[0].text;
    return program == "cat" || program == "bat" || program == "less" || program == "more";
  }

  // What a command on a page printed is the file, if that is a manifest.
  void read_shown_files(size_t first, size_t indent) {
    std::vector<doc::Region> regions;
    for (size_t i = first; i < bundle_.commands.size(); ++i) {
      const std::vector<Command::Line>& output = bundle_.commands[i].output;
      if (output.empty() || !shows_a_file(bundle_.commands[i])) continue;
      const doc::Span& begin = output.front().span;
      const size_t last = output.back().span.offset + output.back().text.size();
      const size_t end = std::min(source_->text.find('\n', last), source_->text.size() - 1) + 1;
      regions.push_back({begin.offset - static_cast<size_t>(begin.column - 1), end, indent});
    }
    for (const doc::Region& one : regions)
      if (block_text(text_of(one), BlockLanguage::kOther) == BlockText::kManifest) read_block(one, Origin::kFence, {});
  }

  void read_text(doc::Region region, ProseOf kind) {
    std::vector<Document> documents;
    read_prose(source_, *index_, region, kind, bundle_, documents, out_);
    for (size_t i = 0; i < documents.size(); ++i) {
      if (documents[i].value.span.source != source_) continue;
      const size_t begin = documents[i].value.span.offset;
      const bool last = i + 1 == documents.size() || documents[i + 1].value.span.source != source_;
      const size_t end = last ? region.end : size_t{documents[i + 1].value.span.offset};
      if (begin < end && end <= region.end) documents[i].elided |= leaves_lines_out(text_of({begin, end}));
    }
    for (Document& document : documents) {
      document.block = document.value.span.offset;
      keep(std::move(document), 0);
    }
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

  void add_all(std::vector<Value> values, Origin origin, const Applied& applied) {
    for (Value& value : values) {
      if (!is_ansible(value)) {
        add(std::move(value), origin, applied);
        continue;
      }
      AnsibleContent content = ansible_content(value, *index_, out_);
      for (AnsibleDefinition& one : content.definitions)
        add(std::move(one.object), Origin::kAnsible, {.verb = one.verb});
      std::ranges::move(content.not_read, std::back_inserter(bundle_.not_read));
    }
  }

  void add(Value value, Origin origin, const Applied& applied) {
    const std::string kind = doc::text_in(value, "kind");
    if (kind.empty()) {
      if (origin == Origin::kFile) bundle_.without_kind.push_back(std::move(value));
      return;
    }
    if (const Value::Array* items = list_items(value, kind)) {
      for (const Value& item : *items) add(item, origin, applied);
      return;
    }
    Document document{.value = std::move(value), .origin = origin};
    describe(document);
    document.verb = applied.verb;
    document.block = block_;
    if (!applied.ns.empty() && !document.has_namespace()) set_namespace(document, applied.ns, document.value.span);
    keep(std::move(document), 0);
  }

  // `depth`: how many objects are around it.
  void keep(Document document, int depth) {
    constexpr int kDeepest = 8;
    if (!is_known(document)) ++bundle_.unknown_kinds[document.kind];
    std::vector<Document> inner = depth < kDeepest ? carried_by(document, *index_) : std::vector<Document>();
    document.carries = !inner.empty();
    bundle_.documents.push_back(std::move(document));
    for (Document& one : inner) keep(std::move(one), depth + 1);
  }

  Bundle& bundle_;
  doc::Diagnostics& out_;
  doc::SourcePtr given_;   // by the user
  doc::SourcePtr source_;  // that is read
  std::optional<doc::LineIndex> index_;
  std::set<size_t> partial_;  // blocks from which lines were taken
  size_t block_ = 0;          // the block that is read
};

}  // namespace

void describe(Document& document) {
  document.kind = doc::text_in(document.value, "kind");
  document.api_version = doc::text_in(document.value, "apiVersion");
  const Value* metadata = document.value.find("metadata");
  document.name = metadata ? doc::text_in(*metadata, "name") : "";
  document.ns = metadata ? doc::text_in(*metadata, "namespace") : "";
  document.ns_from = document.ns.empty() ? NamespaceFrom::kUnknown : NamespaceFrom::kWritten;
  if (document.ns.empty()) document.ns = "default";
}

std::string Document::label() const {
  if (name.empty()) return kind;
  return ns == "default" ? fmt::format("{} {}", kind, name) : fmt::format("{} {}/{}", kind, ns, name);
}

std::string_view Document::group() const {
  const size_t slash = api_version.rfind('/');
  return slash == std::string::npos ? std::string_view() : std::string_view(api_version).substr(0, slash);
}

bool is_known(const Document& document) {
  // Asks find_kind first, because find_schema reads the schema of the kind.
  if (const Kind* kind = find_kind(document.kind); kind != nullptr) {
    const bool named = !kind->group.empty() || !kind->version.empty();
    if (document.api_version.empty() || (named && kind->group == document.group())) return true;
    // The table has one group of a kind, and of some kinds the name alone.
    return schema::find_schema(document.api_version, document.kind) != nullptr ||
           (!named && schema::find_schema("", document.kind) == nullptr);
  }
  return schema::find_schema(document.api_version, document.kind) != nullptr;
}

doc::Span Bundle::given(doc::Span span) const {
  const auto found = as_given.find(span.source.get());
  if (found != as_given.end()) span.source = found->second;
  return span;
}

void Bundle::add_set_later(const doc::Span& value) {
  const auto length = static_cast<uint32_t>(std::max(value.length, 1));
  set_later[std::pair(value.source.get(), value.offset)] = value.offset + length;
}

bool Bundle::is_set_later(const doc::Span& span) const {
  if (set_later.empty() || !span.known()) return false;
  auto next = set_later.upper_bound(std::pair(span.source.get(), span.offset));
  if (next == set_later.begin()) return false;
  const auto& [begin, end] = *--next;
  return begin.first == span.source.get() && span.offset < end;
}

Bundle read_bundle(const std::vector<doc::SourcePtr>& sources, doc::Diagnostics& diagnostics, ApiSchemas schemas) {
  Bundle bundle;
  Reader reader(bundle, diagnostics);
  for (const doc::SourcePtr& source : sources) {
    const size_t documents = bundle.documents.size();
    const size_t without_kind = bundle.without_kind.size();
    reader.read(source);
    if (schemas == ApiSchemas::kKept) continue;
    for (size_t i = documents; i < bundle.documents.size(); ++i) drop_api_schemas(bundle.documents[i].value);
    for (size_t i = without_kind; i < bundle.without_kind.size(); ++i) drop_api_schemas(bundle.without_kind[i]);
  }
  return bundle;
}

}  // namespace railbed::check
