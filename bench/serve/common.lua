-- Owns: what the scripts of the race share: the headers, and the figures as one line of JSON.
-- Must never: look at an answer; wrk counts statuses of 400 and more by itself, and the race counts entities afterwards.
local common = {}

common.headers = {
  ["x-ms-version"] = "2019-02-02",
  ["Accept"] = "application/json;odata=nometadata",
  ["DataServiceVersion"] = "3.0",
}

function common.report(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%.6f,"errors":%d,"bytes":%d,"p50_us":%d,"p99_us":%d,"max_us":%d}\n',
    summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout, summary.bytes,
    latency:percentile(50), latency:percentile(99), latency.max))
end

return common
