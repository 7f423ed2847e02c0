-- Owns: transactions of 100 inserts, each into a partition of its own. Arguments: account, signature, file with the body
-- of one, in which @@@@@@@@ stands for the partition.
package.path = debug.getinfo(1, "S").source:match("@(.*/)") .. "?.lua;" .. package.path
local common = require("common")
local target
local pieces = {}
local number = 0

function init(words)
  target = "/" .. words[1] .. "/$batch?" .. words[2]
  local body = io.open(words[3]):read("*a")
  local from = 1
  while true do
    local begin, behind = body:find("@@@@@@@@", from, true)
    if not begin then break end
    pieces[#pieces + 1] = body:sub(from, begin - 1)
    pieces[#pieces + 1] = ""
    from = behind + 1
  end
  pieces[#pieces + 1] = body:sub(from)
  common.headers["Content-Type"] = "multipart/mixed; boundary=batch_race"
end

function request()
  number = number + 1
  local partition = string.format("%08d", number)
  for place = 2, #pieces, 2 do pieces[place] = partition end
  return wrk.format("POST", target, common.headers, table.concat(pieces))
end

done = common.report
