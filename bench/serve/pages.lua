-- Owns: walks through a table, page after page, by the continuation headers, on one connection.
-- Arguments: account, table, signature, number of pages of a walk.
package.path = debug.getinfo(1, "S").source:match("@(.*/)") .. "?.lua;" .. package.path
local common = require("common")
local target, expected
local following = ""
local pages = 0
wrong = 0  -- global, so that the end can read it from the thread
local thread_of_all

function setup(thread) thread_of_all = thread end

function init(words)
  target = "/" .. words[1] .. "/" .. words[2] .. "()?" .. words[3]
  expected = tonumber(words[4])
end

function request() return wrk.format("GET", target .. following, common.headers) end

local function escaped(text)
  return (text:gsub("[^%w%-._~]", function(letter) return string.format("%%%02X", letter:byte()) end))
end

function response(status, headers)
  local query = ""
  for name, value in pairs(headers) do
    local key = name:lower():match("^x%-ms%-continuation%-(next.*)$")
    if key then query = query .. "&" .. (key == "nextrowkey" and "NextRowKey" or "NextPartitionKey") .. "=" .. escaped(value) end
  end
  pages = pages + 1
  if query == "" then
    if pages ~= expected then wrong = wrong + 1 end
    pages = 0
  end
  following = query
end

function done(summary, latency)
  summary.errors.status = summary.errors.status + thread_of_all:get("wrong")
  common.report(summary, latency)
end
