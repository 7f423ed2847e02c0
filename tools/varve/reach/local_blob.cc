// Owns: the access to a container of a store that this process has open (blob_access.h).
// Must never: add anything to the verbs of the container.
#include <utility>

#include "tools/varve/reach/blob_access.h"

namespace varve::tool {
namespace {

class LocalSink final : public BlobSink {
 public:
  explicit LocalSink(BlobWriter writer) : writer_(std::move(writer)) {}
  Status append(std::string_view bytes) override { return writer_.append(bytes); }
  Result<BlobState> publish() override { return writer_.publish(); }

 private:
  BlobWriter writer_;
};

class LocalSource final : public BlobSource {
 public:
  explicit LocalSource(BlobReader reader) : reader_(std::move(reader)) {}
  const BlobState& state() const noexcept override { return reader_.state(); }
  Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) override {
    return reader_.read(offset, buffer);
  }

 private:
  BlobReader reader_;
};

Result<std::unique_ptr<BlobSink>> sink_of(Result<BlobWriter> writer) {
  if (!writer.ok()) return writer.status();
  return std::unique_ptr<BlobSink>(std::make_unique<LocalSink>(*std::move(writer)));
}

class LocalContainer final : public BlobAccess {
 public:
  LocalContainer(OpenedStore store, std::string account, std::string container)
      : store_(std::move(store)), account_(std::move(account)), name_(std::move(container)) {}

  Status create(const ContainerOptions& options) override {
    if (Status made = store_->create_account(account_); !made.ok() && made.code() != Code::kExists) return made;
    return store_->create_container(account_, name_, options).status();
  }
  Status drop(const BlobConditions& conditions) override { return store_->drop_container(account_, name_, conditions); }
  Result<ContainerState> container() override {
    const Result<Container> opened = open();
    if (!opened.ok()) return opened.status();
    return opened->container_state();
  }
  Result<std::vector<AccessPolicy>> policies() override {
    const Result<Container> opened = open();
    if (!opened.ok()) return opened.status();
    return opened->access_policies();
  }
  Status set_access(const std::vector<AccessPolicy>& policies, PublicAccess public_access,
                    const BlobConditions& conditions) override {
    Result<Container> opened = open();
    return opened.ok() ? opened->set_access(policies, public_access, conditions).status() : opened.status();
  }
  Result<ContainerPage> containers(const ListOptions& options) override {
    return store_->list_containers(account_, options);
  }
  Result<BlobPage> list(const BlobListing& listing) override {
    const Result<Container> opened = open();
    if (!opened.ok()) return opened.status();
    return opened->list(listing);
  }
  Result<BlobState> state(const std::string& blob) override {
    const Result<Container> opened = open();
    if (!opened.ok()) return opened.status();
    return opened->state(blob);
  }
  Result<std::unique_ptr<BlobSource>> read(const std::string& blob) override {
    const Result<Container> opened = open();
    if (!opened.ok()) return opened.status();
    Result<BlobReader> reader = opened->read(blob);
    if (!reader.ok()) return reader.status();
    return std::unique_ptr<BlobSource>(std::make_unique<LocalSource>(*std::move(reader)));
  }
  Result<std::unique_ptr<BlobSink>> write(const std::string& blob, const BlobWriteOptions& options) override {
    Result<Container> opened = open();
    if (!opened.ok()) return opened.status();
    return sink_of(opened->write(blob, options));
  }
  Result<std::unique_ptr<BlobSink>> stage_block(const std::string& blob, const std::string& id,
                                                const BlobWriteOptions& options) override {
    Result<Container> opened = open();
    if (!opened.ok()) return opened.status();
    return sink_of(opened->stage_block(blob, id, options));
  }
  Result<BlockLists> blocks(const std::string& blob) override {
    const Result<Container> opened = open();
    if (!opened.ok()) return opened.status();
    return opened->blocks(blob);
  }
  Result<BlobState> commit_blocks(const std::string& blob, const std::vector<BlockChoice>& blocks,
                                  const BlobWriteOptions& options) override {
    Result<Container> opened = open();
    if (!opened.ok()) return opened.status();
    return opened->commit_blocks(blob, blocks, options);
  }
  Status remove(const std::string& blob, const BlobChangeOptions& options) override {
    Result<Container> opened = open();
    return opened.ok() ? opened->remove(blob, options) : opened.status();
  }
  Result<BlobState> copy(const std::string& blob, const std::string& from, const std::string& from_blob,
                         const BlobChangeOptions& options) override {
    Result<Container> opened = open();
    if (!opened.ok()) return opened.status();
    const Result<Container> source = store_->open_container(account_, from);
    if (!source.ok()) return source.status();
    Result<BlobState> state = source->state(from_blob);
    if (!state.ok()) return state;
    BlobCopyOptions chosen;
    chosen.conditions = options.conditions;
    // The tags and the content are those of one state. Only this program writes to a store that it has open.
    chosen.source_conditions.if_match = state->etag;
    chosen.durability = options.durability;
    chosen.tags = std::move(state->tags);
    return opened->copy(blob, *source, from_blob, chosen);
  }
  Result<LeaseAnswer> lease(const std::string& blob, const LeaseRequest& request,
                            const BlobChangeOptions& options) override {
    Result<Container> opened = open();
    if (!opened.ok()) return opened.status();
    return blob.empty() ? opened->lease_container(request, options.conditions) : opened->lease(blob, request, options);
  }
  Store* local() noexcept override { return &*store_; }
  Status close() override { return store_->close(); }

 private:
  Result<Container> open() const { return store_->open_container(account_, name_); }

  OpenedStore store_;
  const std::string account_;
  const std::string name_;
};

}  // namespace

std::unique_ptr<BlobAccess> container_in(OpenedStore store, std::string account, std::string container) {
  return std::make_unique<LocalContainer>(std::move(store), std::move(account), std::move(container));
}

}  // namespace varve::tool
