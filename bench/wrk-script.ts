import type { Load } from './load.ts';
import type { LoadRequest } from './request.ts';

/**
 * The Lua script that makes wrk send a load. Requests are whole texts already, cut where their number goes,
 * so that sending one costs wrk a concatenation; numbers count up from `firstNumber`.
 */
export function wrkScript({ address, requests, rate }: Load, firstNumber: number): string {
  const { host } = new URL(address);
  const texts = requests.map((request) => rawRequest(host, request).split('{n}').map(luaString).join(', '));
  return `local requests = {\n${texts.map((text) => `{${text}}`).join(',\n')}\n}
local sent, number = 0, ${firstNumber}
function request()
  sent = sent + 1
  local text = requests[(sent - 1) % #requests + 1]
  if #text == 1 then return text[1] end
  number = number + 1
  return table.concat(text, string.format("%d", number))
end
${rate === undefined ? '' : pacing(rate)}
function done(summary, latency)
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('\\n{"responses":%d,"seconds":%f,"latency":%f,"failures":%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, failures))
end
`;
}

/** Assigns every request a slot in time; one that is late, by a second at most, is sent at once. */
function pacing(rate: number): string {
  return `local ffi = require("ffi")
ffi.cdef("typedef struct { long s; long us; } botshelf_time; int gettimeofday(botshelf_time *, void *);")
local time = ffi.new("botshelf_time")
local slot
function delay()
  ffi.C.gettimeofday(time, nil)
  local now = tonumber(time.s) * 1000 + tonumber(time.us) / 1000
  slot = slot and math.max(slot + ${1000 / rate}, now - 1000) or now
  return math.max(0, math.floor(slot - now))
end
`;
}

function rawRequest(host: string, { method, path, headers, body }: LoadRequest): string {
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  if (body === undefined) return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
  const length = body.replaceAll('{n}', '0123456789').length;
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}Content-Length: ${length}\r\n\r\n${body}`;
}

/** Requests are ASCII, for which JSON and Lua write a string alike. */
function luaString(text: string): string {
  return JSON.stringify(text);
}
