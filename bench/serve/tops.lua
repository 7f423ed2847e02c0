-- Owns: queries of the first ten entities of a partition, at random. Arguments: account, table, signature, number of
-- entities.
package.path = debug.getinfo(1, "S").source:match("@(.*/)") .. "?.lua;" .. package.path
local common = require("common")
local before, after, count

function init(words)
  before = "/" .. words[1] .. "/" .. words[2] .. "()?$top=10&$filter=PartitionKey%20eq%20'"
  after = "'&" .. words[3]
  count = tonumber(words[4])
  math.randomseed(1)
end

function request()
  local partition = string.format("p%02d", math.random(math.floor(count / 1000)) - 1)
  return wrk.format("GET", before .. partition .. after, common.headers)
end

done = common.report
