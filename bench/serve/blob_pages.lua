-- Owns: first pages of 5,000 names of a container. Arguments: account, container, signature.
package.path = debug.getinfo(1, "S").source:match("@(.*/)") .. "?.lua;" .. package.path
local common = require("common")
local page

function init(words)
  common.headers["Accept"] = "application/xml"
  common.headers["DataServiceVersion"] = nil
  local query = "?restype=container&comp=list&maxresults=5000&" .. words[3]
  page = wrk.format("GET", "/" .. words[1] .. "/" .. words[2] .. query, common.headers)
end

function request()
  return page
end

done = common.report
