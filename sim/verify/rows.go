package verify

import (
	"fmt"
	"strconv"

	"lockstep/sim/redis"
	"lockstep/sim/resp"
)

// row is one key of a server.
type row struct {
	key, value string
	left       int64 // the reply to PTTL, of which forever is no expiry
}

const forever = -1

func (r row) text() string {
	if r.left == forever {
		return r.value + " without expiry"
	}
	return fmt.Sprintf("%s, PTTL %d", r.value, r.left)
}

// readRows is a script that returns, as one list, for each key its name, its type, its
// remaining life, the number of the items of its value, and these. Without a key it takes
// all keys of the server.
const readRows = `
local read = {
  string = function(k) return {redis.call('GET', k)} end,
  hash = function(k) return redis.call('HGETALL', k) end,
  list = function(k) return redis.call('LRANGE', k, 0, -1) end,
  set = function(k) return redis.call('SMEMBERS', k) end,
  zset = function(k) return redis.call('ZRANGE', k, 0, -1, 'WITHSCORES') end,
}
local keys = KEYS
if #keys == 0 then keys = redis.call('KEYS', '*') end
local out = {}
for _, k in ipairs(keys) do
  local kind = redis.call('TYPE', k).ok
  if kind ~= 'none' then
    local items = read[kind] and read[kind](k) or {}
    for _, word in ipairs({k, kind, tostring(redis.call('PTTL', k)), tostring(#items)}) do
      out[#out + 1] = word
    end
    for _, item in ipairs(items) do
      out[#out + 1] = item
    end
  end
end
return out`

// parseRows reads the reply to readRows.
func parseRows(reply []byte) (rows []row, err error) {
	words, err := resp.Words(reply)
	if err != nil {
		return nil, err
	}
	for len(words) > 0 {
		if len(words) < 4 {
			return nil, fmt.Errorf("a key of %d words", len(words))
		}
		left, err1 := strconv.ParseInt(words[2], 10, 64)
		count, err2 := strconv.Atoi(words[3])
		if err1 != nil || err2 != nil || count < 0 || count > len(words)-4 {
			return nil, fmt.Errorf("key %q has PTTL %q and %q items", words[0], words[2], words[3])
		}
		rows = append(rows, row{key: words[0], value: redis.ValueText(words[1], words[4:4+count]), left: left})
		words = words[4+count:]
	}
	return rows, nil
}
