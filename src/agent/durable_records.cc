// SPDX-License-Identifier: Apache-2.0
#include "agent/durable_records.h"

#include <algorithm>

#include "attach/attach.h"
#include "base/number.h"
#include "doc/json.h"
#include "doc/members.h"
#include "doc/record.h"

namespace railbed::agent {
namespace {

using doc::Value;
using state::Attachment;

// The format's version is in each file with the lowest one that can read it, as in the state (docs/state.md).
constexpr int kRecordVersion = 1;
constexpr int kMinReader = 1;
constexpr unsigned kRecordDirectoryMode = 0700;
constexpr unsigned kRecordFileMode = 0600;
constexpr std::string_view kRecordSuffix = ".json";
constexpr const char* kAttached = "attached";
constexpr const char* kBegun = "begun";

std::string path_of(const std::string& directory, uint64_t number) {
  return fmt::format("{}/{:020}{}", directory, number, kRecordSuffix);
}

// nullopt for other files.
std::optional<uint64_t> number_of(std::string_view name) {
  if (!name.ends_with(kRecordSuffix)) return std::nullopt;
  name.remove_suffix(kRecordSuffix.size());
  return whole_number<uint64_t>(name);
}

Value versioned_value() {
  Value value = Value::object();
  value.set("version", kRecordVersion);
  value.set("minReader", kMinReader);
  return value;
}

state::AttachmentStatus status_in(doc::Fields& from) {
  std::string status;
  from.read("status", status);
  return status == kAttached ? state::AttachmentStatus::kAttached : state::AttachmentStatus::kBegun;
}

}  // namespace

template <typename Io, doc::Is<MetaSandbox> T>
void fields(Io& io, T& sandbox) {
  io.always("network", sandbox.network);
  io.always("ifname", sandbox.ifname);
  io.some("uid", sandbox.pod_uid);
}

template <typename Io, doc::Is<DurableProgram> T>
void fields(Io& io, T& program) {
  auto& record = program.record;
  io.always("boot", program.boot_id);
  io.always("pod", record.pod);
  io.always("interface", record.interface);
  io.always("netns", record.netns);
  io.always("network", record.network);
  io.always("type", record.type);
  if constexpr (Io::kWrites)
    io.object().set("status", record.status == state::AttachmentStatus::kAttached ? kAttached : kBegun);
  else
    record.status = status_in(io.from());
  io.some("device", record.device);
  io.some("resource", record.resource);
  io.always("undo", record.undo);
  io.some("result", record.result);
  io.some("sandbox", program.sandbox);
}

namespace {

std::string to_text(const DurableProgram& program) {
  Value value = versioned_value();
  doc::RecordWriter io(value);
  fields(io, program);
  return doc::to_json(value);
}

// railbed's own words: a member of another type counts as absent.
DurableProgram program_in(const Value& value) {
  DurableProgram program;
  doc::Diagnostics ignored;
  doc::Fields from(value, "", doc::kNoFamily, ignored);
  doc::read_record(from, program);
  return program;
}

Error with_advice(Error error, const std::string& directory) {
  if (error.code == Code::kExhausted) error.code = Code::kIo;  // no address or VF is meant
  error.context.push_back(fmt::format("recording in {} what must be undone even after a reboot", directory));
  error.hint =
      fmt::format("plugins are executed only after this is on disk: make {} writable, with free space", directory);
  return error;
}

}  // namespace

Result<DurableRecord> read_durable_record(const std::string& text) {
  doc::Diagnostics unread;
  auto value = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"record", text}), unread);
  if (!value || !value->is_object()) return fail(Code::kInvalid, "it is damaged");
  if (doc::number_in(*value, "minReader") > kRecordVersion) return fail(Code::kInvalid, "a newer railbed wrote it");
  DurableRecord record{.program = std::nullopt,
                       .directory = doc::text_in(*value, "hostLocal"),
                       .network = doc::text_in(*value, "network")};
  if (!record.directory.empty()) return record;
  record.program = program_in(*value);
  const Attachment& program = record.program->record;
  if (program.pod.empty() || program.interface.empty() || !program.type.starts_with(attach::kProgramPrefix))
    return fail(Code::kInvalid, "it is damaged");
  return record;
}

DurableRecords::DurableRecords(os::Disk& disk, std::string directory, std::string boot_id)
    : disk_(disk), directory_(std::move(directory)), boot_id_(std::move(boot_id)) {}

Result<DurableRecords::Content> DurableRecords::read_locked() {
  Content content;
  std::map<Key, uint64_t> numbers;
  uint64_t last = last_;
  Result<std::vector<std::string>> names = disk_.list(directory_);
  if (!names.has_value() && names.error().code != Code::kNotFound) return fail(std::move(names.error()));
  for (const std::string& name : names.has_value() ? *names : std::vector<std::string>{}) {
    const std::optional<uint64_t> number = number_of(name);
    if (!number.has_value()) continue;
    last = std::max(last, *number);
    const std::string path = directory_ + "/" + name;
    Result<std::string> text = disk_.read(path);
    if (!text.has_value() && text.error().code == Code::kNotFound) continue;  // undone meanwhile
    if (!text.has_value()) {
      content.unread.push_back(text.error().story());
      continue;
    }
    Result<DurableRecord> record = read_durable_record(*text);
    if (!record.has_value()) {
      content.unread.push_back(path + ": " + record.error().message);
    } else if (record->program.has_value()) {
      numbers[{record->program->record.pod, record->program->record.interface}] = *number;
      content.programs.push_back(*std::move(record->program));
    } else {
      numbers[{"", record->directory}] = *number;
      content.directories.emplace_back(std::move(record->directory), std::move(record->network));
    }
  }
  numbers_ = std::move(numbers);
  last_ = last;
  known_ = true;
  return content;
}

Result<void> DurableRecords::remove_unfinished() {
  const std::lock_guard lock(mutex_);
  const Result<std::vector<std::string>> names = disk_.list(directory_);
  if (!names.has_value() && names.error().code == Code::kNotFound) return {};
  for (const std::string& name : TRY(Result(names)))
    if (name.ends_with(os::kHalfDone)) TRY(disk_.remove(directory_ + "/" + name));
  return {};
}

Result<DurableRecords::Content> DurableRecords::read() {
  std::lock_guard lock(mutex_);
  return read_locked();
}

Result<void> DurableRecords::learn() {
  if (!known_) TRY(read_locked());
  return {};
}

Result<void> DurableRecords::put(const Key& key, const std::string& content) {
  uint64_t number = 0;
  bool is_new = false;
  {
    std::lock_guard lock(mutex_);
    TRY(learn());
    auto [place, added] = numbers_.emplace(key, last_ + 1);
    if (added) ++last_;
    number = place->second;
    is_new = added;
  }
  const std::string path = path_of(directory_, number);
  Result<void> done = disk_.replace_durably(path, content, kRecordFileMode);
  if (!done.has_value() && done.error().code == Code::kNotFound) {  // the first record
    TRY(disk_.make_directories(directory_, kRecordDirectoryMode));
    TRY(disk_.sync_directory(directory_.substr(0, directory_.rfind('/'))));
    done = disk_.replace_durably(path, content, kRecordFileMode);
  }
  // It may be there anyway, and nothing that it could undo is going to happen.
  if (!done.has_value() && is_new) (void)disk_.remove(path);
  return done;
}

Result<void> DurableRecords::put_program(const Attachment& record, const std::optional<MetaSandbox>& sandbox) {
  Result<void> done = put({record.pod, record.interface}, to_text({record, sandbox, boot_id_}));
  if (!done.has_value()) return fail(with_advice(std::move(done.error()), directory_));
  return {};
}

Result<void> DurableRecords::put_directory(const std::string& path, const std::string& network) {
  {
    std::lock_guard lock(mutex_);
    TRY(learn());
    if (numbers_.contains({"", path})) return {};
  }
  Value value = versioned_value();
  value.set("boot", boot_id_);
  value.set("hostLocal", path);
  value.set("network", network);
  Result<void> done = put({"", path}, doc::to_json(value));
  if (!done.has_value()) return fail(with_advice(std::move(done.error()), directory_));
  return {};
}

Result<void> DurableRecords::forget_programs(const std::vector<Attachment>& records) {
  std::vector<std::pair<Key, uint64_t>> gone;
  {
    std::lock_guard lock(mutex_);
    TRY(learn());
    for (const Attachment& record : records)
      if (auto found = numbers_.find({record.pod, record.interface}); found != numbers_.end()) gone.push_back(*found);
  }
  if (gone.empty()) return {};
  for (const auto& [key, number] : gone)
    TRY(disk_.remove(path_of(directory_, number)).context("removing the record of what was undone"));
  Result<void> synced = disk_.sync_directory(directory_);
  if (!synced.has_value() && synced.error().code != Code::kNotFound) return synced;
  std::lock_guard lock(mutex_);
  for (const auto& [key, number] : gone) numbers_.erase(key);
  return {};
}

}  // namespace railbed::agent
