/** Lua scripts of the membership: a heartbeat, and the end of a node. */

/**
 * Lua: records this node's heartbeat and its shards, removes silent nodes, returns the living ones. Time only counts
 * forwards and in small steps (S5), so `beats.ms` is how long this membership has been beating. A change is published
 * as news.
 */
export const BEAT = `
  local seen, members, beats = KEYS[1], KEYS[2], KEYS[3]
  local key, told, silenceMax, stepMax, forgetAfter, channel = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6]
  local time = redis.call('time')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local last = redis.call('hmget', beats, 'at', 'ms')
  local step = last[1] and now - tonumber(last[1]) or 0
  local ms = (tonumber(last[2] or '0')) + math.max(0, math.min(step, stepMax))
  redis.call('hset', beats, 'at', string.format('%.0f', now), 'ms', string.format('%.0f', ms))

  local before = redis.call('hget', members, key) or ''
  local news = string.sub(before, 1, #told) ~= told
  redis.call('zadd', seen, ms, key)
  redis.call('hset', members, key, told .. ARGV[7])
  for _, silent in ipairs(redis.call('zrangebyscore', seen, '-inf', '(' .. string.format('%.0f', ms - silenceMax))) do
    redis.call('zrem', seen, silent)
    redis.call('hdel', members, silent)
    news = true
  end
  for i = 1, 3 do redis.call('pexpire', KEYS[i], forgetAfter) end
  if news then redis.call('publish', channel, key) end
  return { string.format('%.0f', ms), redis.call('hgetall', members) }
`

/** Lua: removes a node that stops, and publishes that as news. */
export const LEAVE = `
  redis.call('zrem', KEYS[1], ARGV[1])
  redis.call('hdel', KEYS[2], ARGV[1])
  return redis.call('publish', ARGV[2], ARGV[1])
`
