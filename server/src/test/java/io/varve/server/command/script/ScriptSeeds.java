package io.varve.server.command.script;

import java.util.List;
import java.util.stream.Stream;

import static io.varve.server.command.script.ScriptFuzzTest.ofKind;
import static io.varve.server.rdb.Payloads.texts;

/** Good inputs of {@link ScriptFuzzTest}: scripts as applications use them, and arguments. Immutable. */
final class ScriptSeeds {
    private static final String RELEASE = """
            if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end
            return 0
            """;
    private static final String REENTRANT_LOCK = """
            if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
              redis.call('hincrby', KEYS[1], ARGV[2], 1)
              redis.call('pexpire', KEYS[1], 30000)
              return nil
            end
            return redis.call('pttl', KEYS[1])
            """;
    private static final String WINDOW = """
            local n = redis.call('incr', KEYS[1])
            if n == 1 then redis.call('expire', KEYS[1], 60) end
            return n > 10 and 0 or 10 - n
            """;
    private static final String BUCKET = """
            local t = redis.call('time')
            local now = tonumber(t[1]) + tonumber(t[2]) / 1e6
            local b = redis.call('hmget', KEYS[1], 'tokens', 'at')
            local tokens = math.min(10, (tonumber(b[1]) or 10) + (now - (tonumber(b[2]) or now)) * 2.5)
            local ok = tokens >= 1
            redis.call('hset', KEYS[1], 'tokens', ok and tokens - 1 or tokens, 'at', now)
            return {ok, tostring(tokens)}
            """;
    private static final String SLIDING = """
            redis.call('zremrangebyscore', KEYS[1], '-inf', 100 - 60)
            local c = redis.call('zcard', KEYS[1])
            if c < 5 then redis.call('zadd', KEYS[1], 100, 'm' .. c) return 1 end
            return redis.error_reply('LIMIT reached')
            """;
    private static final String JOB = """
            local key, rcall = KEYS[1], redis.call
            local id = rcall('incr', key .. ':id')
            local job = key .. ':' .. id
            local opts = cmsgpack.unpack(cmsgpack.pack({delay = 5, lifo = false, parent = {1, 'a'}}))
            rcall('hmset', job, 'data', cjson.encode({x = {1, 2}}), 'delay', opts.delay)
            rcall('xadd', key .. ':events', 'MAXLEN', '~', 100, '*', 'event', 'added', 'jobId', id)
            if opts.delay > 0 then
              rcall('zadd', key .. ':delayed', id * 0x1000 + bit.band(id, 0xfff), id)
            else rcall('lpush', key .. ':wait', id) end
            return id .. ''
            """;
    private static final String MOVE = """
            local function move(from, to, max)
              local jobs = redis.call('zrangebyscore', from, 0, max, 'LIMIT', 0, 1000)
              for i = 1, #jobs, 100 do
                redis.call('zrem', from, unpack(jobs, i, math.min(i + 99, #jobs)))
                redis.call('rpush', to, unpack(jobs, i, math.min(i + 99, #jobs)))
              end
              return #jobs
            end
            redis.call('zadd', KEYS[1], 1, 'a', 2, 'b', 9, 'c')
            return move(KEYS[1], KEYS[2], ARGV[1])
            """;
    private static final String OBJECTS = """
            local Stack = {} Stack.__index = Stack
            function Stack.new(...) return setmetatable({n = select('#', ...), ...}, Stack) end
            function Stack:pop() local v = self[self.n] self[self.n], self.n = nil, self.n - 1 return v end
            Stack.__call = function(s, i) return s[i] end
            local s, r = Stack.new('a', 2, {}), {}
            while s.n > 0 do r[#r + 1] = type(s:pop()) end
            repeat local x = #r until x > 0
            for k, v in pairs({x = 1, [2.5] = 'y', [3] = not nil}) do r[#r + 1] = tostring(k) .. '=' .. tostring(v) end
            return r, s(1)
            """;
    private static final String ERRORS = """
            local ok, e = pcall(redis.call, 'incr', KEYS[1], 'x')
            local ok2, e2 = pcall(error, {err = 'MINE failed'})
            local e3 = redis.pcall('lpush', KEYS[1])
            assert(not ok and not ok2, 'it should fail')
            return {e.err or e, type(e2), e3, {err = 'A b'}, {ok = 'fine'}, redis.status_reply('OK')}
            """;
    private static final String TYPES = """
            #!lua flags=allow-oom,allow-stale
            redis.setresp(3)
            redis.call('hset', KEYS[1], 'f', 'v')
            local m = redis.call('hgetall', KEYS[1])
            return {m, {map = {a = {double = 1.5}}}, {set = {x = true}}, {big_number = '12345678901234567890'},
              {verbatim_string = {format = 'txt', string = 'some'}}, {double = 0 / 0}, true, false, 3.99, -0, nil, 1}
            """;
    private static final String COROUTINES = """
            local function gen(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
            local sum = 0
            for i in gen(5) do sum = sum + i + redis.call('incrby', KEYS[1], i) end
            return {sum, pcall(gen(0)), coroutine.running()}
            """;
    private static final String TEXTS = """
            local out = {}
            for w, n in string.gmatch('a=1, b=22', '(%w+)=(%d+)') do out[#out + 1] = ('%-3s|%05d'):format(w, n) end
            out[#out + 1] = string.gsub('hello world', '%f[%a](.)(%a*)', function(a, b) return a:upper() .. b end)
            table.sort(out, function(a, b) return a > b end)
            return {table.concat(out, ';'), #out, string.byte('\\065z', 1, -1), [[x]] .. 0x1F .. 1e3}
            """;
    private static final String LIBRARY = """
            #!lua name=lib
            local calls = 0
            local function get(keys, args)
              calls = calls + 1
              return redis.call('set', keys[1], args[1] or calls, 'GET')
            end
            redis.register_function('get', get)
            redis.register_function{function_name = 'ro', description = 'reads', flags = {'no-writes', 'allow-stale'},
              callback = function(keys, args) return {redis.pcall('get', keys[1] or 'x'), calls, #args} end}
            """;

    private ScriptSeeds() {}

    static List<String> seeds() {
        return Stream.of(
                ofKind(0, RELEASE, BUCKET, SLIDING, JOB, OBJECTS, ERRORS, COROUTINES, "return KEYS[1] .. ARGV[2]",
                        "while true do end", "local s = 'x' while true do s = s .. s end",
                        "while true do redis.call('incr', KEYS[1]) end", "return loadstring('return 1')() + f(1)",
                        "local function f(n) return 1 + f(n + 1) end return f(1)",
                        "cjson.encode_max_depth(1e6) local t = {} for i = 1, 9e3 do t = {t} end return cjson.encode(t)",
                        "cjson.decode_max_depth(1e6) return cjson.decode(string.rep('[', 9e4))",
                        "return string.find(string.rep('a', 9e4), '.-.-b')",
                        "local a = {string.rep('x', 1e6)} for i = 1, 400 do a = {a, a} end return a",
                        "local t = {} for i = 1, 7e3 do t[i] = string.rep('x', 1e6) end return redis.call(unpack(t))",
                        "local s, t = string.rep('x', 1e6), {} for i = 1, 7e3 do t[i] = s end redis.log(3, unpack(t))"
                                + " return redis.call('rpush', KEYS[1], unpack(t))",
                        "local t = {map = {}} t.map[t] = t return t",
                        "local t = {} for i = 1, 9e3 do t = {t} end return {t, cmsgpack.pack(t)}"),
                ofKind(16, TYPES, "redis.setresp(3) return redis.call('xinfo', 'help')"),
                ofKind(1, WINDOW, "return redis.call('get', KEYS[1])", TEXTS), ofKind(17, MOVE),
                ofKind(2, REENTRANT_LOCK),
                ofKind(3, "{\"a\":[1,-2.5e10,true,false,null,\"\\u00e9\\ud83d\\ude00\\n\"],\"b\":{}}",
                        "[[[[[]]]]] ", "[NaN, -Infinity, 0x1f, 1e999]"),
                ofKind(4, "\u0083\u00a1a\u0001\u00a1b\u0093\u00c0\u00c2\u00c3\u00a1c\u00cb?\u00f8\0\0\0\0\0\0",
                        "\u00da\0\u0003abc\u00cd\u0001\0\u00d3\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00fe",
                        "\u00df\0\0\0\u0001\u00dd\0\0\0\u0001\u00ca?\u0080\0\0\u00e0"),
                ofKind(5, ">bBhHlLi4I8xfd\0\u0001\u0002\0\u0003\0\u0004\0\0\0\0\0\0\0\u0005", "<!4i2si1c0\0\u0001\0ab\0"
                        + "\u0003xyz", "c5\0hello"),
                ofKind(6, "%5.2f %-10s|%q %c %x %%\0" + "3.14159\0text\0q\"\n\0" + "65\0" + "255", "%05d%+i%#o%e%g%G\0"
                        + "1\0" + "2\0" + "8"),
                ofKind(7, "(%w+)%s*=%s*(%b())\0key = (a(b)c), x=()\0%2:%1", "^(.-)([^,]*)$\0a,b,c",
                        "[%a_][]-z]+%1?\0ab"),
                ofKind(8, "set\0key\0value\0EX\0" + "10", "zadd\0key\0" + "1.5\0a\0nan\0b", "xadd\0s\0*\0f\0v",
                        "command\0docs\0get", "georadius\0g\0" + "1\0" + "2\0" + "3\0km"),
                ofKind(24, "hgetall\0key", "config\0get\0*", "debug\0object\0key"),
                ofKind(9, "string\0rep\0ab\0" + "3", "table\0concat\0a\0b", "math\0fmod\0" + "7\0" + "-3",
                        "bit\0lshift\0" + "1\0" + "31", "struct\0pack\0>I2c0\0" + "5\0abc",
                        "cjson\0encode_max_depth\0" + "3",
                        "cjson\0encode_sparse_array\0true\0" + "2\0" + "3", "redis\0sha1hex\0x",
                        "_G\0select\0#\0" + "1",
                        "cmsgpack\0pack\0" + "1\0b", "math\0randomseed\0" + "42", "_G\0setmetatable", "os\0clock"),
                ofKind(10, LIBRARY, "#!lua name=a\nwhile true do end"),
                ofKind(11, "\u00f5" + texts(LIBRARY), "\u00f5" + texts("#!lua name=a\nwhile true do end")),
                ofKind(12, "local a = ... coroutine.yield(a, coroutine.running()) return redis.call('incr', 'x')",
                        "while true do coroutine.yield(1) end"),
                ofKind(13, "local t = setmetatable({}, {__index = function(t, k) error(k) end}) return t.x",
                        "error({err = 'X y'})", "x = 1"),
                ofKind(14, "0x10\0" + "16\0", "1e308\0" + "10", "-7.5\0" + "2\0,"),
                ofKind(15, "#!lua flags=no-writes\nreturn redis.call('get', KEYS[1] or 'a')", RELEASE))
                .flatMap(List::stream).toList();
    }

    static List<String> words() {
        return List.of("@", "P", "\0", "\n", "--", "[[", "]]", "[=[", "]=]", "'", "\"", "\\", "(", ")", "{", "}", "[",
                "]",
                "...", "..", "=", "==", "~=", "<=", " and ", " or ", "not ", "#", "nil", "true", "local ",
                "local function f",
                "function(", " end ", "for i = 1, 9 do ", "for k, v in pairs(", "while true do ", "repeat ", " until ",
                "if ", " then ", " else ", "return ", "break ", "redis.call('", "redis.pcall(", "unpack(", "KEYS[1]",
                "ARGV", "_G", "pcall(", "error(", "setmetatable(", "{}", "__index", "__newindex", "__eq", "__lt",
                "__concat",
                "__call", "__tostring", "__metatable", "coroutine.wrap(", "coroutine.yield(", "loadstring(", "setfenv",
                "string.rep(", "string.format(", "table.insert(", "table.sort(", "cjson.decode(", "cmsgpack.pack(",
                "struct.pack(", "1e308", "2^53", "0/0", "-1", "0x7fffffff", "%d", "%99.99f", "%s", "%b()", "%f[", "[^",
                "*",
                "-", "\u00dd\u00ff\u00ff\u00ff\u00ff", "\u00c6\u007f\u00ff\u00ff\u00ff", "\u0091", "\u0081", "\u00c7",
                "i16", "c0", "!8", "\\u0000", "\\ud800", "[", "{\"a\":", "#!lua name=", " flags=no-writes\n",
                "redis.register_function('", "\u00f5", "\u00f6", "err", "ok", "map", "set", "double", "big_number",
                "verbatim_string", "format", "get\0key", "flushall", "eval\0return 1\0" + "0", "object\0encoding\0key");
    }
}
