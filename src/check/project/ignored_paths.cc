// SPDX-License-Identifier: Apache-2.0
#include "check/project/ignored_paths.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace railbed::check {

void IgnoreRules::read(std::string_view text, Patterns& into) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (auto pattern = PathPattern::parse_line(text.substr(0, end))) into.push_back(std::move(*pattern));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void IgnoreRules::add_exclude(std::string_view text) {
  read(text, exclude_);
}

void IgnoreRules::add(std::string folder, std::string_view text) {
  Patterns patterns;
  read(text, patterns);
  if (!patterns.empty()) by_folder_.insert_or_assign(std::move(folder), std::move(patterns));
}

bool IgnoreRules::ignores(std::string_view path, bool is_folder) const {
  const auto last_that_fits = [&](const Patterns& patterns, std::string_view below) {
    const auto found = std::find_if(patterns.rbegin(), patterns.rend(),
                                    [&](const PathPattern& one) { return one.fits(below, is_folder); });
    return found == patterns.rend() ? nullptr : &*found;
  };
  for (std::string_view folder = path; !folder.empty();) {
    const size_t slash = folder.rfind('/');
    folder = slash == std::string_view::npos ? std::string_view() : folder.substr(0, slash);
    const auto here = by_folder_.find(folder);
    if (here == by_folder_.end()) continue;
    const std::string_view below = folder.empty() ? path : path.substr(folder.size() + 1);
    if (const PathPattern* last = last_that_fits(here->second, below)) return !last->negated();
  }
  const PathPattern* last = last_that_fits(exclude_, path);
  return last != nullptr && !last->negated();
}

TrackedPaths::TrackedPaths(std::vector<std::string> paths) : paths_(std::move(paths)) {
  std::ranges::sort(paths_);
}

bool TrackedPaths::contains(std::string_view path) const {
  return std::ranges::binary_search(paths_, path, std::less<>());
}

bool TrackedPaths::has_below(std::string_view folder) const {
  if (folder.empty()) return !paths_.empty();
  const std::string begin = std::string(folder) + "/";
  const auto first = std::ranges::lower_bound(paths_, begin);
  return first != paths_.end() && first->starts_with(begin);
}

namespace {

// The bytes of an index, from the front; reading beyond the end makes everything later absent.
class IndexBytes {
 public:
  explicit IndexBytes(std::string_view bytes) : bytes_(bytes) {}

  size_t at() const { return at_; }
  bool failed() const { return failed_; }
  std::string_view rest() const { return bytes_.substr(at_); }

  std::string_view take(size_t count) {
    if (failed_ || count > bytes_.size() - at_) {
      failed_ = true;
      return {};
    }
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  uint32_t number(size_t size) {
    uint32_t value = 0;
    for (const char c : take(size)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  // The text up to the next NUL, which is taken, too.
  std::string_view text() {
    const size_t end = failed_ ? std::string_view::npos : bytes_.find('\0', at_);
    if (end == std::string_view::npos) {
      failed_ = true;
      return {};
    }
    const std::string_view found = take(end - at_);
    take(1);
    return found;
  }
  // How many bytes of the previous path version 4 drops.
  uint64_t offset() {
    uint64_t value = 0;
    for (int i = 0; i < 9 && !failed_; ++i) {
      const uint32_t byte = number(1);
      value = value << 7 | (byte & 0x7f);
      if ((byte & 0x80) == 0) return value;
      ++value;
    }
    failed_ = true;
    return 0;
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  bool failed_ = false;
};

struct Index {
  std::vector<std::string> paths;
  bool split = false;
};

bool has_extension(IndexBytes bytes, std::string_view name, size_t checksum) {
  while (!bytes.failed() && bytes.rest().size() > checksum) {
    if (bytes.take(4) == name) return true;
    bytes.take(bytes.number(4));
  }
  return false;
}

// nullopt: not an index with object names of this size.
std::optional<Index> read_index(std::string_view all, size_t object_name) {
  constexpr size_t kTimesAndOwner = 40;
  IndexBytes bytes(all);
  if (bytes.take(4) != "DIRC") return std::nullopt;
  const uint32_t version = bytes.number(4);
  const uint32_t count = bytes.number(4);
  // An entry has more than kTimesAndOwner bytes.
  if (version < 2 || version > 4 || count > all.size() / kTimesAndOwner) return std::nullopt;
  Index index;
  index.paths.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const size_t begin = bytes.at();
    bytes.take(kTimesAndOwner + object_name);
    const uint32_t flags = bytes.number(2);
    if ((flags & 0x4000) != 0) bytes.take(2);
    std::string path;
    if (version == 4) {
      const uint64_t dropped = bytes.offset();
      const std::string_view before = index.paths.empty() ? std::string_view() : index.paths.back();
      if (bytes.failed() || dropped > before.size()) return std::nullopt;
      path = before.substr(0, before.size() - dropped);
    }
    path += bytes.text();
    if (version != 4) bytes.take((8 - (bytes.at() - begin) % 8) % 8);
    // The size of object names is nowhere in the file; with the wrong one the lengths do not fit.
    const bool fits = (flags & 0xfff) == std::min<size_t>(path.size(), 0xfff);
    if (bytes.failed() || !fits || path.empty() || (!index.paths.empty() && path < index.paths.back()))
      return std::nullopt;
    index.paths.push_back(std::move(path));
  }
  index.split = has_extension(bytes, "link", object_name);
  return index;
}

}  // namespace

Result<std::vector<std::string>> paths_in_index(std::string_view bytes) {
  constexpr size_t kSha1 = 20;
  constexpr size_t kSha256 = 32;
  std::optional<Index> index = read_index(bytes, kSha1);
  if (!index) index = read_index(bytes, kSha256);
  if (!index) return fail(Code::kInvalid, "no index of git, or one in a form that is not known");
  if (index->split) return fail(Code::kUnsupported, "the index is split into two files");
  return std::move(index->paths);
}

}  // namespace railbed::check
