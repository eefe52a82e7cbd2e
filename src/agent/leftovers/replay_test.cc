// SPDX-License-Identifier: Apache-2.0
// Journaled DELs on a disk in memory; tests/shim covers the files that the shim itself writes.
#include "agent/leftovers/replay.h"

#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

namespace railbed::agent {
namespace {

class MemoryDisk : public os::Disk {
 public:
  std::map<std::string, std::string> files;
  bool broken = false;
  std::set<std::string> odd;  // no plain files

  Result<void> make_directories(const std::string&, unsigned) override { return {}; }
  Result<std::vector<std::string>> list(const std::string& path) override {
    std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [file, content] : files)
      if (file.starts_with(path + "/")) names.push_back(file.substr(path.size() + 1));
    return names;
  }
  Result<os::FileStamp> stamp(const std::string& path) override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const int64_t age_s = old.contains(path) ? 2 * 3600 : 60;
    return os::FileStamp{.seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count() - age_s};
  }
  std::set<std::string> old;  // written two hours ago
  Result<std::string> read(const std::string& path) override {
    std::lock_guard lock(mutex_);
    if (broken) return fail(Code::kIo, "read {}: EIO", path);
    if (odd.contains(path)) return fail(Code::kInvalid, "read {}: not a plain file", path);
    const auto found = files.find(path);
    if (found == files.end()) return fail(Code::kNotFound, "read {}: ENOENT", path);
    return found->second;
  }
  Result<void> create(const std::string& path, std::string_view content, unsigned) override {
    if (!files.emplace(path, content).second) return fail(Code::kConflict, "{} is there", path);
    return {};
  }
  Result<void> replace(const std::string& path, std::string_view content, unsigned) override {
    files[path] = content;
    return {};
  }
  Result<void> remove(const std::string& path) override {
    std::lock_guard lock(mutex_);
    files.erase(path);
    return {};
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    std::lock_guard lock(mutex_);
    auto moved = files.extract(from);
    moved.key() = to;
    files.insert(std::move(moved));
    return {};
  }
  Result<void> replace_durably(const std::string& path, std::string_view content, unsigned mode) override {
    return replace(path, content, mode);
  }
  Result<void> sync_directory(const std::string&) override { return {}; }
  Result<std::unique_ptr<os::DiskLock>> lock(const std::string&, std::chrono::milliseconds) override {
    return std::make_unique<os::DiskLock>();
  }

 private:
  std::mutex mutex_;
};

std::string del_frame(const std::string& id, const std::string& command = "DEL", const std::string& config = "{}") {
  return cni::to_frame(cni::WireRequest{
      "macvlan",
      {"CNI_COMMAND=" + command, "CNI_CONTAINERID=" + id, "CNI_NETNS=/n", "CNI_IFNAME=e", "CNI_PATH=/p"},
      config});
}

struct ReplayRig {
  MemoryDisk disk;
  std::vector<std::string> handled;
  std::vector<std::string> notes;
  int status = 0;
  Events events;
  Replay replay{disk, "/d",
                [this](const cni::Request& request) {
                  handled.push_back(request.container_id);
                  return Reply{.result = status == 0 ? Result<std::string>() : fail(Code::kBusy, "busy")};
                },
                [this](const std::string& line) { notes.push_back(line); }, events};
};

TEST(Replay, DoesTheOldestFirstAndRemovesWhatSucceeded) {
  ReplayRig world;
  world.disk.files = {{"/d/2.del", del_frame("b")}, {"/d/1.del", del_frame("a")}, {"/d/3.del.new", "half"}};
  EXPECT_EQ(world.replay.pending(), 2U);
  EXPECT_EQ(world.replay.all(), (Replay::Tally{.done = 2}));
  EXPECT_EQ(world.handled, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(world.disk.files.size(), 1U);
  EXPECT_EQ(world.replay.pending(), 0U);
}

TEST(Replay, KeepsWhatFailedAndReportsItOnce) {
  ReplayRig world;
  world.disk.files = {{"/d/1.del", del_frame("a")}};
  world.status = 1;
  EXPECT_EQ(world.replay.all(), (Replay::Tally{.failed = 1}));
  EXPECT_EQ(world.replay.all(), (Replay::Tally{.failed = 1}));
  ASSERT_EQ(world.notes.size(), 1U);
  EXPECT_EQ(world.notes[0], "the DEL in /d/1.del failed and will be retried: busy");
  ASSERT_EQ(world.events.all().size(), 1U);
  EXPECT_EQ(world.events.all()[0].kind, "pending-del");
  EXPECT_EQ(world.events.all()[0].about, "1.del");
  EXPECT_EQ(world.events.all()[0].count, 2U);
  EXPECT_EQ(world.events.all()[0].last_error, "a: busy");
  world.status = 0;
  EXPECT_EQ(world.replay.all(), (Replay::Tally{.done = 1}));
  EXPECT_TRUE(world.events.all().empty());
  EXPECT_TRUE(world.disk.files.empty());
}

TEST(Replay, StopsBetweenTwo) {
  ReplayRig world;
  world.disk.files = {{"/d/1.del", del_frame("a")}, {"/d/2.del", del_frame("b")}};
  std::stop_source stop;
  Events events;
  Replay replay(
      world.disk, "/d",
      [&](const cni::Request&) {
        stop.request_stop();
        return Reply{};
      },
      [](const std::string&) {}, events);
  EXPECT_EQ(replay.all(stop.get_token()), (Replay::Tally{.done = 1}));
  EXPECT_TRUE(world.disk.files.contains("/d/2.del"));
}

TEST(Replay, SetsAsideWhatIsNoRequest) {
  ReplayRig world;
  const std::string whole = del_frame("a");
  world.disk.files = {{"/d/1.del", whole.substr(0, whole.size() - 1)},
                      {"/d/2.del", ""},
                      {"/d/3.del", del_frame("a", "ADD")},
                      {"/d/4.del", del_frame("../a")},
                      {"/d/5.del", "GET / HTTP/1.1"}};
  EXPECT_EQ(world.replay.all(), (Replay::Tally{.broken = 5}));
  EXPECT_TRUE(world.handled.empty());
  EXPECT_EQ(world.disk.files.size(), 5U);
  EXPECT_TRUE(world.disk.files.contains("/d/1.del.broken"));
  ASSERT_EQ(world.notes.size(), 5U);
  EXPECT_NE(world.notes[1].find("the frame ends within its head"), std::string::npos) << world.notes[1];
  EXPECT_NE(world.notes[2].find("it contains ADD, only DEL is retried"), std::string::npos) << world.notes[2];
  EXPECT_NE(world.notes[4].find("does not begin with RBC1"), std::string::npos) << world.notes[4];
  EXPECT_EQ(world.replay.all(), Replay::Tally{});
}

// A plugin that was killed while it started the shim had written no configuration, or a part of it.
TEST(Replay, SetsAsideWhatCanNeverSucceed) {
  ReplayRig world;
  world.disk.files = {{"/d/1.del", del_frame("a", "DEL", "")},
                      {"/d/2.del", del_frame("a", "DEL", "{\"name\":")},
                      {"/d/3.del", del_frame("a", "DEL", "7")}};
  EXPECT_EQ(world.replay.all(), (Replay::Tally{.broken = 3}));
  EXPECT_TRUE(world.handled.empty());
  ASSERT_EQ(world.notes.size(), 3U);
  for (const std::string& note : world.notes)
    EXPECT_NE(note.find("its configuration is not a JSON object"), std::string::npos) << note;
}

TEST(Replay, SettlesOneContainerBeforeItGetsSomethingNew) {
  ReplayRig world;
  world.disk.files = {{"/d/1.del", del_frame("a")}, {"/d/2.del", del_frame("b")}, {"/d/3.del", "garbage"}};
  EXPECT_TRUE(world.replay.settle("b"));
  EXPECT_EQ(world.handled, (std::vector<std::string>{"b"}));
  EXPECT_EQ(world.disk.files.size(), 2U);
  world.status = 1;
  EXPECT_FALSE(world.replay.settle("a"));
  world.disk.broken = true;
  EXPECT_FALSE(world.replay.settle("b"));
}

// A folder, a link, a pipe, a file of 5 MB: no request waits for it, and it is reported under the name that it gets.
TEST(Replay, SetsAsideWhatIsNoFileAndNoContainerWaitsForIt) {
  ReplayRig world;
  world.disk.files = {{"/d/1.del", ""}, {"/d/2.del", del_frame("b")}};
  world.disk.odd = {"/d/1.del"};
  EXPECT_TRUE(world.replay.settle("a"));
  EXPECT_TRUE(world.notes.empty());
  EXPECT_EQ(world.replay.all(), (Replay::Tally{.done = 1, .broken = 1}));
  EXPECT_TRUE(world.disk.files.contains("/d/1.del.broken"));
  ASSERT_EQ(world.notes.size(), 1U);
  EXPECT_EQ(world.notes[0],
            "/d/1.del cannot be read (read /d/1.del: not a plain file); it was renamed to 1.del.broken");
  ASSERT_EQ(world.events.all().size(), 1U);
  EXPECT_EQ(world.events.all()[0].about, "1.del.broken");
  EXPECT_EQ(world.replay.all(), Replay::Tally{});
}

TEST(Replay, RemovesWhatAKilledShimHadBegunToWrite) {
  ReplayRig world;
  world.disk.files = {{"/d/1.del.new", "half"}, {"/d/2.del.new", "half"}};
  world.disk.old = {"/d/1.del.new"};
  EXPECT_EQ(world.replay.all(), Replay::Tally{});
  EXPECT_EQ(world.disk.files.size(), 1U);
  EXPECT_TRUE(world.disk.files.contains("/d/2.del.new"));
}

TEST(Replay, OneThatHangsKeepsNoOtherContainerWaiting) {
  MemoryDisk disk;
  disk.files = {{"/d/1.del", del_frame("slow")}, {"/d/2.del", del_frame("other")}};
  std::promise<void> begun;
  std::promise<void> go_on;
  Events events;
  Replay replay(
      disk, "/d",
      [&](const cni::Request& request) {
        if (request.container_id == "slow") {
          begun.set_value();
          go_on.get_future().wait();
        }
        return Reply{};
      },
      [](const std::string&) {}, events);
  std::jthread all([&] { replay.all(); });
  begun.get_future().wait();
  EXPECT_TRUE(replay.settle("a third"));
  EXPECT_TRUE(replay.settle("other"));
  EXPECT_EQ(replay.pending(), 1U);
  std::jthread same([&] { EXPECT_TRUE(replay.settle("slow")); });
  go_on.set_value();
  same.join();
  all.join();
  EXPECT_EQ(replay.pending(), 0U);
}

}  // namespace
}  // namespace railbed::agent
