-- Owns: gets of messages, and a delete for each message that a get returned. Arguments: account, queue, signature.
package.path = debug.getinfo(1, "S").source:match("@(.*/)") .. "?.lua;" .. package.path
local common = require("common")
local target, signature
local taken = {}

local function escaped(text)
  return (text:gsub("[^%w]", function(c) return string.format("%%%02X", string.byte(c)) end))
end

function init(words)
  target = "/" .. words[1] .. "/" .. words[2] .. "/messages"
  signature = words[3]
  common.headers["Accept"] = "application/xml"
end

function request()
  local message = table.remove(taken)
  if message == nil then
    return wrk.format("GET", target .. "?visibilitytimeout=3600&" .. signature, common.headers)
  end
  local name = target .. "/" .. message.id .. "?popreceipt=" .. escaped(message.receipt) .. "&" .. signature
  return wrk.format("DELETE", name, common.headers)
end

function response(status, headers, body)
  local id = body:match("<MessageId>([^<]+)</MessageId>")
  local receipt = body:match("<PopReceipt>([^<]+)</PopReceipt>")
  if id ~= nil and receipt ~= nil then table.insert(taken, {id = id, receipt = receipt}) end
end

done = common.report
