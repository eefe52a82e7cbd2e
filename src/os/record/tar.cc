// SPDX-License-Identifier: Apache-2.0
#include "os/record/tar.h"

#include <cerrno>
#include <cstdio>
#include <memory>

#include <unistd.h>

#include "os/record/archive_library.h"
#include "os/record/recorded.h"

namespace railbed::os {
namespace {

using Kind = MemoryFiles::Entry::Kind;

constexpr size_t kBlockBytes = 1 << 16;
constexpr size_t kMaxPathBytes = 4096;

// Loaded: read_tar and write_tar ask for it first.
const ArchiveLibrary& library() {
  return **archive_library();
}

struct FreeReader {
  void operator()(archive* reader) const { library().archive_read_free(reader); }
};
struct FreeWriter {
  void operator()(archive* writer) const { library().archive_write_free(writer); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { library().archive_entry_free(entry); }
};

std::string reason(archive* of) {
  const char* text = library().archive_error_string(of);
  return text == nullptr ? "unknown" : text;
}

// Why something could not be written: the library's words and, behind them, the system's reason.
std::string write_reason(archive* of) {
  const int sys_errno = library().archive_errno(of);
  return sys_errno > 0 ? system_error(sys_errno, reason(of)).message : reason(of);
}

// "/a/b" for "./a//b/"; nothing for a path that leaves the root or is too long.
std::optional<std::string> inside_path(std::string_view path) {
  if (path.size() > kMaxPathBytes || path.find('\0') != std::string_view::npos) return std::nullopt;
  std::string inside;
  while (!path.empty()) {
    size_t end = std::min(path.find('/'), path.size());
    std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part == "..") return std::nullopt;
    if (part.empty() || part == ".") continue;
    inside += '/';
    inside += part;
  }
  return inside;
}

class TarReader {
 public:
  TarReader(archive* reader, std::string name, MemoryFiles& files)
      : reader_(reader), name_(std::move(name)), files_(files) {}

  Result<void> read() {
    archive_entry* entry = nullptr;
    while (true) {
      int status = library().archive_read_next_header(reader_, &entry);
      if (status == ARCHIVE_EOF) break;
      if (status == ARCHIVE_RETRY) continue;
      if (status < ARCHIVE_WARN) return fail(Code::kInvalid, "{}: {}", name_, reason(reader_));
      if (++entries_ > kMaxRecordingEntries)
        return fail(Code::kInvalid, "{}: more than {} entries", name_, kMaxRecordingEntries);
      TRY(take(entry));
    }
    skip_outer_directory();
    return {};
  }

 private:
  Result<void> take(archive_entry* entry) {
    const char* raw = library().archive_entry_pathname(entry);
    if (raw == nullptr) return fail(Code::kInvalid, "{}: an entry without a name", name_);
    auto path = inside_path(raw);
    if (!path) return fail(Code::kInvalid, "{}: {} leads out of the recording", name_, shown(raw));
    if (path->empty()) return {};
    bool fits = true;
    if (const char* target = library().archive_entry_hardlink(entry)) {
      auto other = inside_path(target);
      auto content = other ? files_.read(*other) : Result<std::string>(fail(Code::kInvalid, "outside"));
      if (!content) return fail(Code::kInvalid, "{}: {} is a hard link to a missing entry", name_, shown(raw));
      bytes_ += content->size();
      TRY(check_size());
      fits = files_.put_file(*path, std::move(*content));
    } else if (library().archive_entry_filetype(entry) == AE_IFLNK) {
      const char* link = library().archive_entry_symlink(entry);
      fits = files_.put_link(*path, link == nullptr ? "" : link);
    } else if (library().archive_entry_filetype(entry) == AE_IFDIR) {
      fits = files_.put_directory(*path);
    } else if (library().archive_entry_filetype(entry) == AE_IFREG) {
      fits = files_.put_file(*path, TRY(content(*path)));
    }
    if (!fits) return fail(Code::kInvalid, "{}: {} is below a path that is not a directory", name_, shown(raw));
    return {};
  }

  Result<std::string> content(const std::string& path) {
    std::string text;
    char block[kBlockBytes];
    while (true) {
      la_ssize_t count = library().archive_read_data(reader_, block, sizeof block);
      if (count == 0) return text;
      if (count < 0) return fail(Code::kInvalid, "{}: {}: {}", name_, path, reason(reader_));
      text.append(block, static_cast<size_t>(count));
      bytes_ += static_cast<size_t>(count);
      if (text.size() > kMaxFileBytes)
        return fail(Code::kInvalid, "{}: {} is larger than {} bytes", name_, path, kMaxFileBytes);
      TRY(check_size());
    }
  }

  Result<void> check_size() const {
    if (bytes_ > kMaxRecordingBytes)
      return fail(Code::kInvalid, "{}: more than {} bytes of content", name_, kMaxRecordingBytes);
    return {};
  }

  // Tar files made by hand often have one directory around everything.
  void skip_outer_directory() {
    auto top = files_.list("/");
    if (!top || top->size() != 1 || files_.exists("/sys")) return;
    std::string outer = "/" + top->front();
    if (!files_.exists(outer + "/sys")) return;
    std::vector<std::tuple<MemoryFiles::Entry::Kind, std::string, std::string>> all;
    files_.each([&](const MemoryFiles::Entry& entry) {
      if (entry.path.size() > outer.size()) all.emplace_back(entry.kind, entry.path.substr(outer.size()), entry.text);
    });
    files_.remove(outer);
    for (auto& [kind, path, text] : all) {
      if (kind == MemoryFiles::Entry::Kind::kFile)
        files_.put_file(path, std::move(text));
      else if (kind == MemoryFiles::Entry::Kind::kLink)
        files_.put_link(path, std::move(text));
      else
        files_.put_directory(path);
    }
  }

  static std::string shown(std::string_view text) {
    return fmt::format("\"{}\"", text.size() > 100 ? std::string(text.substr(0, 100)) + "…" : std::string(text));
  }

  archive* reader_;
  std::string name_;
  MemoryFiles& files_;
  size_t entries_ = 0;
  size_t bytes_ = 0;
};

std::unique_ptr<archive, FreeReader> new_reader() {
  std::unique_ptr<archive, FreeReader> reader(library().archive_read_new());
  library().archive_read_support_format_tar(reader.get());
  library().archive_read_support_filter_gzip(reader.get());
  library().archive_read_support_filter_bzip2(reader.get());
  library().archive_read_support_filter_xz(reader.get());
  library().archive_read_support_filter_zstd(reader.get());
  library().archive_read_set_options(reader.get(), "hdrcharset=BINARY");  // names are bytes in every locale
  return reader;
}

Result<void> put_entry(archive* writer, const MemoryFiles::Entry& entry) {
  std::unique_ptr<archive_entry, FreeEntry> header(library().archive_entry_new());
  library().archive_entry_set_pathname(header.get(), entry.path.c_str() + 1);
  library().archive_entry_set_mtime(header.get(), 0, 0);
  library().archive_entry_set_perm(header.get(), entry.kind == Kind::kDirectory ? 0755 : 0644);
  library().archive_entry_set_filetype(header.get(), entry.kind == Kind::kDirectory ? AE_IFDIR
                                                     : entry.kind == Kind::kFile    ? AE_IFREG
                                                                                    : AE_IFLNK);
  if (entry.kind == Kind::kLink) library().archive_entry_set_symlink(header.get(), entry.text.c_str());
  if (entry.kind == Kind::kFile)
    library().archive_entry_set_size(header.get(), static_cast<la_int64_t>(entry.text.size()));
  if (library().archive_write_header(writer, header.get()) != ARCHIVE_OK ||
      (entry.kind == Kind::kFile && library().archive_write_data(writer, entry.text.data(), entry.text.size()) !=
                                        static_cast<la_ssize_t>(entry.text.size())))
    return fail(Code::kIo, "write {}: {}", entry.path, write_reason(writer));
  return {};
}

}  // namespace

Result<void> read_tar(const std::string& tar_file, MemoryFiles& files) {
  TRY(archive_library());
  auto reader = new_reader();
  if (::access(tar_file.c_str(), R_OK) != 0) return fail(system_error(errno, "open " + tar_file));
  if (library().archive_read_open_filename(reader.get(), tar_file.c_str(), kBlockBytes) != ARCHIVE_OK)
    return fail(Code::kInvalid, "{} is not a tar file: {}", tar_file, reason(reader.get()));
  return TarReader(reader.get(), tar_file, files).read();
}

Result<void> read_tar_bytes(std::string_view bytes, const std::string& name, MemoryFiles& files) {
  TRY(archive_library());
  auto reader = new_reader();
  if (library().archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    return fail(Code::kInvalid, "{} is not a tar file: {}", name, reason(reader.get()));
  return TarReader(reader.get(), name, files).read();
}

Result<void> write_tar(const MemoryFiles& files, const std::string& tar_file) {
  TRY(archive_library());
  std::string temporary = tar_file + ".part";
  std::unique_ptr<archive, FreeWriter> writer(library().archive_write_new());
  library().archive_write_set_format_pax_restricted(writer.get());
  // GNU tar warns about this header at every entry, so it is used only where a name needs it.
  bool plain_names = true;
  files.each([&](const MemoryFiles::Entry& entry) {
    for (char c : entry.path) plain_names = plain_names && static_cast<unsigned char>(c) < 0x80;
    if (entry.kind != MemoryFiles::Entry::Kind::kLink) return;
    for (char c : entry.text) plain_names = plain_names && static_cast<unsigned char>(c) < 0x80;
  });
  if (!plain_names) library().archive_write_set_options(writer.get(), "hdrcharset=BINARY");
  if (tar_file.ends_with("gz")) library().archive_write_add_filter_gzip(writer.get());
  Result<void> written;
  if (library().archive_write_open_filename(writer.get(), temporary.c_str()) != ARCHIVE_OK) {
    written = fail(Code::kIo, "create {}: {}", temporary, write_reason(writer.get()));
  } else {
    files.each([&](const MemoryFiles::Entry& entry) {
      if (written) written = put_entry(writer.get(), entry);
    });
    if (library().archive_write_close(writer.get()) != ARCHIVE_OK && written)
      written = fail(Code::kIo, "write {}: {}", temporary, write_reason(writer.get()));
  }
  if (written && std::rename(temporary.c_str(), tar_file.c_str()) != 0)
    written = fail(system_error(errno, "rename " + temporary));
  if (!written) ::unlink(temporary.c_str());
  return written;
}

}  // namespace railbed::os
