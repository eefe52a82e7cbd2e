// SPDX-License-Identifier: Apache-2.0
// Records what a reader of facts looks at.
//
// Every path that is read goes into a tree in memory with its state at that time: links on the way as links, content as
// it was read, the names in listed directories as empty files, directories or links.
#include <mutex>
#include <set>

#include "doc/json.h"
#include "os/netlink/devlink.h"
#include "os/record/netlink_json.h"
#include "os/record/recorded.h"
#include "os/record/recording_paths.h"
#include "os/record/tar.h"

namespace railbed::os {
class TracedFiles : public FileTree {
 public:
  explicit TracedFiles(FileTree& files) : files_(files) {}

  Result<std::string> read(const std::string& path) const override {
    auto content = files_.read(path);
    if (!content) return content;
    std::lock_guard lock(mutex_);
    note_links(path);
    if (auto real = files_.real_path(path)) seen_.put_file(*real, *content);
    return content;
  }
  Result<void> write(const std::string& path, std::string_view content) override { return files_.write(path, content); }
  Result<std::vector<std::string>> list(const std::string& path) const override {
    auto names = files_.list(path);
    if (!names) return names;
    std::lock_guard lock(mutex_);
    note(path);
    for (const std::string& name : *names) note_name((path == "/" ? "" : path) + "/" + name);
    return names;
  }
  Result<std::string> read_link(const std::string& path) const override {
    auto target = files_.read_link(path);
    std::lock_guard lock(mutex_);
    if (target) note_name(path);
    return target;
  }
  Result<std::string> real_path(const std::string& path) const override {
    auto real = files_.real_path(path);
    std::lock_guard lock(mutex_);
    if (real) note(path);
    return real;
  }
  bool exists(const std::string& path) const override {
    if (!files_.exists(path)) return false;
    std::lock_guard lock(mutex_);
    note(path);
    return true;
  }

  MemoryFiles& seen() { return seen_; }

 private:
  // Records the links on the way to `path`, including itself.
  void note_links(const std::string& path) const {
    for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
      std::string part = path.substr(0, end);
      if (known_.insert(part).second) {
        auto target = files_.read_link(part);
        auto parent = files_.real_path(part.substr(0, std::max<size_t>(part.rfind('/'), 1)));
        if (target && parent) {
          std::string at = (*parent == "/" ? "" : *parent) + part.substr(part.rfind('/'));
          seen_.put_link(at, *target);
          if (auto real = files_.real_path(part)) note_links(*real);
        }
      }
      if (end == std::string::npos) return;
    }
  }
  // Records that `path` exists, and of which kind it is.
  void note(const std::string& path) const {
    note_links(path);
    if (auto real = files_.real_path(path); real && !seen_.exists(*real)) {
      if (files_.list(*real))
        seen_.put_directory(*real);
      else
        seen_.put_file(*real, "");
    }
  }
  // Like note(), but keeps a link as a link, which may lead nowhere.
  void note_name(const std::string& path) const {
    if (files_.read_link(path))
      note_links(path);
    else
      note(path);
  }

  FileTree& files_;
  mutable std::mutex mutex_;  // guards the rest: readers may have several threads
  mutable MemoryFiles seen_;
  mutable std::set<std::string> known_;
};

// The answers so far; ports in several threads add to them.
class HeardAnswers {
 public:
  void put(const NetlinkQuestion& question, const std::vector<NetlinkMessage>& messages) {
    std::lock_guard lock(mutex_);
    answers_.put(question, messages);
  }
  // What this machine does not have is no part of its recording.
  void put_unreachable(NetlinkFamily family, const Error& error) {
    if (error.code == Code::kUnsupported) return;
    std::lock_guard lock(mutex_);
    answers_.unreachable.insert_or_assign(family, error);
  }
  NetlinkAnswers all() const {
    std::lock_guard lock(mutex_);
    return answers_;
  }

 private:
  mutable std::mutex mutex_;
  NetlinkAnswers answers_;
};

class TracedQuestions : public NetlinkQuestions {
 public:
  TracedQuestions(std::unique_ptr<NetlinkQuestions> machine, HeardAnswers& heard)
      : machine_(std::move(machine)), heard_(heard) {}

  Result<void> reach(NetlinkFamily family) override {
    Result<void> reached = machine_->reach(family);
    if (!reached) heard_.put_unreachable(family, reached.error());
    return reached;
  }

  // What is refused is not kept: to a recording it is a question without an answer.
  Result<std::vector<NetlinkMessage>> ask(const NetlinkQuestion& question) override {
    auto messages = machine_->ask(question);
    if (messages) heard_.put(question, *messages);
    return messages;
  }

 private:
  std::unique_ptr<NetlinkQuestions> machine_;
  HeardAnswers& heard_;
};

namespace {

// The facts for the recording; nullopt where the machine has none.
Result<std::optional<RecordedLinks>> ask_links(Kernel& kernel) {
  auto port = kernel.links();
  if (!port) return std::nullopt;
  RecordedLinks links;
  links.links = TRY((*port)->list(WithVfs::kYes));
  links.addresses = TRY((*port)->addresses());
  links.routes = TRY((*port)->routes());
  if (auto rules = (*port)->rules()) links.rules = std::move(*rules);  // a kernel may have been built without them
  return links;
}

Result<std::optional<RecordedRdma>> ask_rdma(Kernel& kernel) {
  auto port = kernel.rdma();
  if (!port) return std::nullopt;
  RecordedRdma rdma;
  rdma.devices = TRY((*port)->list());
  if (auto mode = (*port)->netns_mode()) rdma.mode = *mode;
  return rdma;
}

// Earlier versions of railbed look for two of the answers in host.json.
RecordedHost ask_host(Kernel& kernel, const NetlinkAnswers& answers) {
  RecordedHost host{.name = kernel.host_name(), .kernel_release = kernel.kernel_release()};
  const std::unique_ptr<NetlinkQuestions> questions = recorded_questions(answers);
  auto devices = kernel.files().list("/sys/bus/pci/devices");
  if (!devices) return host;
  for (const std::string& name : *devices) {
    auto address = PciAddress::parse(name);
    if (!address) continue;
    RecordedHost::Devlink devlink;
    if (auto mode = eswitch_mode(*questions, *address)) devlink.mode = *mode;
    devlink.firmware = firmware_version(*questions, *address).value_or("");
    if (devlink.mode || !devlink.firmware.empty()) host.devlink[*address] = devlink;
  }
  return host;
}

}  // namespace

class Recorder::Traced : public Kernel {
 public:
  explicit Traced(Kernel& machine) : machine_(machine), files_(machine.files()) {}

  FileTree& files() override { return files_; }
  NetnsPort& netns() override { return machine_.netns(); }
  UeventPort& uevents() override { return machine_.uevents(); }
  ProcessPort& processes() override { return machine_.processes(); }
  Clock& clock() override { return machine_.clock(); }
  Result<std::unique_ptr<LinkPort>> links() override { return machine_.links(); }
  Result<std::unique_ptr<RdmaPort>> rdma() override {
    auto port = machine_.rdma();
    if (!port) heard_.put_unreachable(NetlinkFamily::kRdma, port.error());
    return port;
  }
  Result<std::unique_ptr<EswitchPort>> eswitch() override { return machine_.eswitch(); }
  std::unique_ptr<NetlinkQuestions> questions() override {
    return std::make_unique<TracedQuestions>(machine_.questions(), heard_);
  }
  Result<std::unique_ptr<LinkWatch>> link_watch() override { return machine_.link_watch(); }
  bool live() const override { return machine_.live(); }
  std::string host_name() const override { return machine_.host_name(); }
  std::string kernel_release() const override { return machine_.kernel_release(); }
  std::string boot_id() const override { return machine_.boot_id(); }

  Kernel& machine() { return machine_; }
  MemoryFiles& seen() { return files_.seen(); }
  NetlinkAnswers heard() const { return heard_.all(); }

 private:
  Kernel& machine_;
  TracedFiles files_;
  HeardAnswers heard_;
};

Recorder::Recorder(Kernel& machine) : traced_(std::make_unique<Traced>(machine)) {}
Recorder::~Recorder() = default;

Kernel& Recorder::kernel() {
  return *traced_;
}

Result<const MemoryFiles*> Recorder::files() {
  Kernel& machine = traced_->machine();
  MemoryFiles& seen = traced_->seen();
  if (auto links = TRY(ask_links(machine))) seen.put_file(kLinksFile, doc::to_json(to_value(*links), 1) + "\n");
  if (auto rdma = TRY(ask_rdma(machine))) seen.put_file(kRdmaFile, doc::to_json(to_value(*rdma), 1) + "\n");
  const NetlinkAnswers answers = traced_->heard();
  if (answers != NetlinkAnswers{}) seen.put_file(kAnswersFile, doc::to_json(to_value(answers), 1) + "\n");
  seen.put_file(kHostFile, doc::to_json(to_value(ask_host(machine, answers)), 1) + "\n");
  return &seen;
}

Result<void> Recorder::write(const std::string& tar_file) {
  const MemoryFiles* seen = TRY(files());
  return write_tar(*seen, tar_file).context("recording into {}", tar_file);
}

}  // namespace railbed::os
