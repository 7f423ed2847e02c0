// Goal: each request of the blob service finds its resource and its route, and no other request finds one.
// Method: paths, queries and verbs, beside the operation or the error that each must give.
#include "api/rest/blobs/blob_routes.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/rest/blobs/blob_target.h"

namespace varve::serve::blob_routes_test {
namespace {

Result<BlobTarget> target_of(const std::string& path, const std::string& query = "") {
  return parse_blob_target(path, *QueryParameters::parse(query));
}

std::string operation_for(const std::string& verb, const std::string& path, const std::string& query,
                          const Headers& headers = {}) {
  const Result<BlobTarget> target = target_of(path, query);
  if (!target.ok()) return std::string(target.status().service_error());
  const Result<const BlobRoute*> route =
      find_blob_route(target->resource, *QueryParameters::parse(query), headers, verb);
  return std::string(route.ok() ? operation_name((*route)->operation) : route.status().service_error());
}

TEST(BlobTargets, BN01_BN02_ThePathBehindTheContainerIsTheName) {
  for (const auto& [path, blob] : std::vector<std::pair<std::string, std::string>>{{"photos/a.txt", "a.txt"},
                                                                                   {"photos/eu/a b.txt", "eu/a b.txt"},
                                                                                   {"photos//a", "/a"},
                                                                                   {"photos/a/", "a/"},
                                                                                   {"photos/a.", "a."},
                                                                                   {"photos/\\", "\\"}}) {
    const Result<BlobTarget> target = target_of(path);
    ASSERT_TRUE(target.ok()) << path;
    EXPECT_EQ(target->resource, BlobResource::kBlob);
    EXPECT_EQ(target->container, "photos");
    EXPECT_EQ(target->blob, blob);
    EXPECT_EQ(target->signed_name(), "photos/" + blob);
  }
}

TEST(BlobTargets, BN01_ABlobWithoutAContainerIsInTheRootContainer) {
  const Result<BlobTarget> target = target_of("a.txt");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->container, "$root");
  EXPECT_EQ(target->blob, "a.txt");
  for (const std::string name : {"$root", "$logs", "$web"}) {
    EXPECT_EQ((*target_of(name, "restype=container")).container, name);
  }
  EXPECT_EQ(target_of("$other", "restype=container").status().service_error(), "InvalidResourceName");
}

TEST(BlobTargets, BN01_BN02_NamesAreJudged) {
  EXPECT_EQ(target_of("Photos", "restype=container").status().service_error(), "InvalidResourceName");
  EXPECT_EQ(target_of("ab", "restype=container").status().service_error(), "OutOfRangeInput");
  EXPECT_EQ(target_of("photos/" + std::string(1025, 'a')).status().service_error(), "OutOfRangeInput");
  EXPECT_TRUE(target_of("photos/" + std::string(1024, 'a')).ok());
  EXPECT_FALSE(target_of("photos/\xFF").ok());
  EXPECT_EQ(target_of("photos/").status().service_error(), "InvalidUri");
  EXPECT_EQ(target_of("photos/a", "restype=container").status().service_error(), "InvalidUri");
  EXPECT_EQ((*target_of("photos/", "restype=Container")).resource, BlobResource::kContainer);
  EXPECT_EQ((*target_of("")).resource, BlobResource::kService);
}

TEST(BlobRoutes, BN04_EachResourceHasItsOperations) {
  const std::string of_container = "restype=container";
  struct Known {
    std::string verb, path, query, operation;
  };
  for (const Known& known :
       std::vector<Known>{{"GET", "", "comp=list", "ListContainers"},
                          {"GET", "", "restype=service&comp=properties", "GetBlobServiceProperties"},
                          {"PUT", "", "restype=service&comp=properties", "SetBlobServiceProperties"},
                          {"GET", "", "restype=service&comp=stats", "GetBlobServiceStatistics"},
                          {"HEAD", "", "restype=account&comp=properties", "GetAccountInformation"},
                          {"GET", "photos", "restype=account&comp=properties", "GetAccountInformation"},
                          {"GET", "photos/a", "restype=account&comp=properties", "GetAccountInformation"},
                          {"POST", "", "comp=batch", "BlobBatch"},
                          {"POST", "photos", of_container + "&comp=batch", "BlobBatch"},
                          {"PUT", "photos", of_container, "CreateContainer"},
                          {"DELETE", "photos", of_container, "DeleteContainer"},
                          {"HEAD", "photos", of_container, "GetContainer"},
                          {"PUT", "photos", of_container + "&comp=metadata", "SetContainerMetadata"},
                          {"GET", "photos", of_container + "&comp=acl", "GetContainerPolicies"},
                          {"PUT", "photos", of_container + "&comp=acl", "SetContainerPolicies"},
                          {"PUT", "photos", of_container + "&comp=lease", "LeaseContainer"},
                          {"GET", "photos", of_container + "&comp=list", "ListBlobs"},
                          {"PUT", "photos/a", "", "PutBlob"},
                          {"PUT", "a", "", "PutBlob"},
                          {"GET", "photos/a", "", "GetBlob"},
                          {"HEAD", "photos/a", "", "GetBlobState"},
                          {"DELETE", "photos/a", "", "DeleteBlob"},
                          {"PUT", "photos/a", "comp=block&blockid=MDAwMQ==", "PutBlock"},
                          {"PUT", "photos/a", "comp=blocklist", "PutBlockList"},
                          {"GET", "photos/a", "comp=blocklist", "GetBlockList"},
                          {"PUT", "photos/a", "comp=appendblock", "AppendBlock"},
                          {"PUT", "photos/a", "comp=properties", "SetBlobProperties"},
                          {"PUT", "photos/a", "comp=metadata", "SetBlobMetadata"},
                          {"HEAD", "photos/a", "comp=metadata", "GetBlobMetadata"},
                          {"PUT", "photos/a", "comp=tags", "SetBlobTags"},
                          {"GET", "photos/a", "comp=tags", "GetBlobTags"},
                          {"PUT", "photos/a", "comp=tier", "SetBlobTier"},
                          {"PUT", "photos/a", "comp=lease", "LeaseBlob"},
                          {"PUT", "photos/a", "comp=copy&copyid=1", "AbortCopyBlob"}}) {
    EXPECT_EQ(operation_for(known.verb, known.path, known.query), known.operation) << known.verb << known.query;
  }
  const Headers source = {{"x-ms-copy-source", "http://here/b"}};
  EXPECT_EQ(operation_for("PUT", "photos/a", "", source), "CopyBlob");
  EXPECT_EQ(operation_for("PUT", "photos/a", "comp=block&blockid=MDAwMQ==", source), "PutBlock");
  EXPECT_EQ(operation_for("PUT", "photos/a", "comp=appendblock", source), "AppendBlock");
}

TEST(BlobRoutes, BN05_OtherVerbsPartsAndValuesAreRefused) {
  EXPECT_EQ(operation_for("POST", "photos/a", ""), "UnsupportedHttpVerb");
  EXPECT_EQ(operation_for("DELETE", "photos/a", "comp=metadata"), "UnsupportedHttpVerb");
  EXPECT_EQ(operation_for("GET", "photos/a", "comp=acl"), "InvalidUri");
  EXPECT_EQ(operation_for("GET", "photos/a", "comp=other"), "InvalidQueryParameterValue");
  EXPECT_EQ(operation_for("GET", "photos/a", "restype=other"), "InvalidQueryParameterValue");
  EXPECT_EQ(operation_for("GET", "", ""), "InvalidUri");
  EXPECT_EQ(operation_for("GET", "", "restype=service&comp=list"), "InvalidQueryParameterValue");
}

TEST(BlobRoutes, BH06_ContentIsTheBodyOfFourOperations) {
  const auto carries = [](const std::string& verb, const std::string& query, const Headers& headers = {}) {
    HttpRequest request;
    request.head.verb = verb;
    request.head.query = query;
    request.head.headers = headers;
    return carries_content(request);
  };
  EXPECT_TRUE(carries("PUT", ""));
  EXPECT_TRUE(carries("PUT", "comp=block&blockid=MDAwMQ=="));
  EXPECT_TRUE(carries("PUT", "comp=blocklist"));
  EXPECT_TRUE(carries("PUT", "comp=appendblock"));
  EXPECT_FALSE(carries("PUT", "restype=container"));
  EXPECT_FALSE(carries("PUT", "", {{"x-ms-copy-source", "http://here/b"}}));
  EXPECT_FALSE(carries("POST", ""));
  EXPECT_FALSE(carries("PUT", "comp=%zz"));
}

}  // namespace
}  // namespace varve::serve::blob_routes_test
