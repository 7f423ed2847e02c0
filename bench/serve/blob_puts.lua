-- Owns: puts of block blobs. Arguments: account, container, signature, file of the content, number of names.
-- With no names each put creates a new blob. Otherwise the puts replace that many blobs in turn, with requests that are
-- made before the first one is sent.
package.path = debug.getinfo(1, "S").source:match("@(.*/)") .. "?.lua;" .. package.path
local common = require("common")
local before, after, body
local made = {}
local number = 0

local function put_of(n)
  return wrk.format("PUT", string.format("%s%08d%s", before, n, after), common.headers, body)
end

function init(words)
  before = "/" .. words[1] .. "/" .. words[2] .. "/"
  after = "?" .. words[3]
  local file = assert(io.open(words[4], "rb"))
  body = file:read("*a")
  file:close()
  common.headers["Accept"] = "*/*"
  common.headers["DataServiceVersion"] = nil
  common.headers["Content-Type"] = "application/octet-stream"
  common.headers["x-ms-blob-type"] = "BlockBlob"
  for n = 1, tonumber(words[5]) do made[n] = put_of(n - 1) end
end

function request()
  number = number + 1
  if #made == 0 then return put_of(number) end
  return made[(number - 1) % #made + 1]
end

done = common.report
