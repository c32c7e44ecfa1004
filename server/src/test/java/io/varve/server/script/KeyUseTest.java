package io.varve.server.script;

import java.nio.charset.StandardCharsets;

import io.varve.server.command.CommandHarness;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests which scripts run under the locks of their declared keys alone. Confined to the test's thread. */
class KeyUseTest {
    private static boolean namesItsKeys(String script) throws ScriptException {
        try (CommandHarness harness = new CommandHarness()) {
            return harness.server().scripting().scripts().evaluated(script.getBytes(StandardCharsets.ISO_8859_1))
                    .namesItsKeys();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"return 1", "return redis.call('get', KEYS[1])",
            "return redis.pcall('SET', KEYS[1], ARGV[1])",
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
            "local key = KEYS[1] local call = redis.call return call('incrby', key, ARGV[1])",
            "for i, key in ipairs(KEYS) do redis.call('del', key) end return #KEYS",
            "for i = 1, #KEYS do redis.call('incr', KEYS[i]) end", "return redis.call('mget', unpack(KEYS))",
            "return redis.call('del', KEYS[1], KEYS[2])", "return redis.call('rename', KEYS[1], KEYS[2])",
            "return redis.call('hset', KEYS[1], unpack(ARGV))", "return server.call('get', KEYS[tonumber(ARGV[1])])",
            "local function f() return redis.call('get', KEYS[1]) end return f()",
            "local k = KEYS[1] local function f() return redis.call('get', k) end return f()",
            "return redis.call('publish', ARGV[1], 'x')", "return redis.status_reply('OK')",
            "return {KEYS[1], ARGV[1]}",
            "return redis.call('get', (KEYS[1]))", "return cjson.encode({redis.call('time')[1] == nil})"})
    void declaredKeys(String script) throws ScriptException {
        boolean usesTime = script.contains("'time'");
        assertThat(namesItsKeys(script)).as(script).isEqualTo(!usesTime);
    }

    @ParameterizedTest
    @ValueSource(strings = {"return redis.call('get', 'x')", "return redis.call('get', ARGV[1])",
            "return redis.call(ARGV[1], KEYS[1])", "return redis.call('get', KEYS[1] .. ':x')",
            "local key = KEYS[1] key = 'x' return redis.call('get', key)",
            "KEYS[1] = 'x' return redis.call('get', KEYS[1])",
            "local t = KEYS t[1] = 'x' return redis.call('get', KEYS[1])",
            "table.insert(KEYS, 1, 'x') return redis.call('get', KEYS[1])", "return redis.call('mget', unpack(ARGV))",
            "return redis.call('mget', KEYS[1], unpack(ARGV))", "return redis.call(unpack(ARGV))",
            "return redis.call('keys', '*')", "return redis.call('dbsize')", "return redis.call('flushall')",
            "return redis.call('sort', KEYS[1], 'by', 'w_*')", "return redis.call('zunionstore', KEYS[1], 1, KEYS[2])",
            "return pcall(redis.call, 'get', 'x')", "local c = {redis.call} return c[1]('get', 'x')",
            "local function f(k) return redis.call('get', k) end return f(KEYS[1])", "return _G.redis.call('get', 'x')",
            "return loadstring(\"return redis.call('get', 'x')\")()", "local r = redis return r.call('get', 'x')",
            "return redis[ARGV[1]]('get', 'x')", "for i, k in ipairs(ARGV) do redis.call('del', k) end",
            "for k in pairs({x = 1}) do redis.call('del', k) end", "return redis.call('get', (KEYS[1] or 'x'))",
            "for i, key in ipairs(KEYS) do key = 'x' redis.call('del', key) end",
            "return redis.call('nosuch', KEYS[1])", "redis.call('select', 1) return redis.call('get', KEYS[1])",
            "return redis.call('move', KEYS[1], 1)", "return redis.call('copy', KEYS[1], KEYS[2], 'DB', 1)",
            "return redis.call('rename', KEYS[1], ...)", "return redis.call('set', ...)",
            "local call = redis.call local other = call return other('get', 'x')"})
    void otherKeys(String script) throws ScriptException {
        assertThat(namesItsKeys(script)).as(script).isFalse();
    }
}
