-- Owns: inserts of fresh entities into 16 partitions. Arguments: account, table, signature, text of the entities.
package.path = debug.getinfo(1, "S").source:match("@(.*/)") .. "?.lua;" .. package.path
local common = require("common")
local target, text
local number = 0

function init(words)
  target = "/" .. words[1] .. "/" .. words[2] .. "?" .. words[3]
  text = words[4]
  common.headers["Content-Type"] = "application/json"
  common.headers["Prefer"] = "return-no-content"
end

function request()
  number = number + 1
  local body = string.format('{"PartitionKey":"p%02d","RowKey":"%08d","Customer":"Ann","Lines":3,"Note":"%s"}',
    number % 16, number, text)
  return wrk.format("POST", target, common.headers, body)
end

done = common.report
