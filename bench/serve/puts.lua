-- Owns: puts of messages. Arguments: account, queue, signature, text of a message.
package.path = debug.getinfo(1, "S").source:match("@(.*/)") .. "?.lua;" .. package.path
local common = require("common")
local target, body

function init(words)
  target = "/" .. words[1] .. "/" .. words[2] .. "/messages?" .. words[3]
  body = "<QueueMessage><MessageText>" .. words[4] .. "</MessageText></QueueMessage>"
  common.headers["Content-Type"] = "application/xml"
  common.headers["Accept"] = "application/xml"
end

function request()
  return wrk.format("POST", target, common.headers, body)
end

done = common.report
