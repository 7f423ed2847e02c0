-- Owns: point gets of entities that are there, at random. Arguments: account, table, signature, number of entities.
package.path = debug.getinfo(1, "S").source:match("@(.*/)") .. "?.lua;" .. package.path
local common = require("common")
local before, after, count

function init(words)
  before = "/" .. words[1] .. "/" .. words[2]
  after = "?" .. words[3]
  count = tonumber(words[4])
  math.randomseed(1)
end

function request()
  local number = math.random(count) - 1
  local keys = string.format("(PartitionKey='p%02d',RowKey='%08d')", math.floor(number / 1000), number)
  return wrk.format("GET", before .. keys .. after, common.headers)
end

done = common.report
