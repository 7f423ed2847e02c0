-- Owns: gets of whole blobs that are there, at random. Arguments: account, container, signature, number of blobs.
package.path = debug.getinfo(1, "S").source:match("@(.*/)") .. "?.lua;" .. package.path
local common = require("common")
local before, after, count

function init(words)
  before = "/" .. words[1] .. "/" .. words[2] .. "/"
  after = "?" .. words[3]
  count = tonumber(words[4])
  math.randomseed(1)
  common.headers["Accept"] = "*/*"
  common.headers["DataServiceVersion"] = nil
end

function request()
  return wrk.format("GET", string.format("%s%08d%s", before, math.random(count) - 1, after), common.headers)
end

done = common.report
