package io.varve.lua;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Scripts that try to take too much memory, stack or time. Confined to the test's thread. */
class EngineLimitsTest {
    private static final int THREAD_STACK = 1 << 20;
    private final ScriptRunner runner = new ScriptRunner();

    @ParameterizedTest
    @ValueSource(strings = {"return 1 + f(n + 1)", "local x = {{{{f(n + 1)}}}}", "return -(-(-(-f(n + 1))))",
            "return tostring(tostring(tostring(f(n + 1))))", "for i = 1, 2 do for k in pairs({1}) do f(n + 1) end end",
            "return 'a' .. ('b' .. ('c' .. f(n + 1)))", "if n then do while true do f(n + 1) end end end",
            "local ok, e = pcall(f, n + 1) if not ok then error(e, 0) end", "table.sort({3, 2, 1}, f)",
            "string.gsub('abc', '.', f)", "return f(1, f(2))", "return coroutine.wrap(f)(n) + 1"})
    void deepRecursion_isAnErrorOfTheScript(String body) throws InterruptedException {
        String outcome = onSmallThread("local function f(n) " + body + " end local ok, e = pcall(f, 1) return e");
        assertThat(outcome).containsAnyOf("stack overflow", "too many coroutines");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a+", "a.", "a()", "a..", "-", "(", "{", "f(", "not ", "a^", "a and "})
    void longChunks_areRefusedOrRun(String piece) throws InterruptedException {
        for (int count : List.of(150, 1000, 100_000)) {
            String outcome = onSmallThread("return tostring(loadstring('return ' .. string.rep('" + piece + "', "
                    + count + ") .. 'a'))");
            assertThat(outcome).matches("nil|function.*");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"local t = {} while true do t[#t + 1] = {} end",
            "local t = {} for i = 1, 1e9 do t['k' .. i] = i end", "local s = 'x' while true do s = s .. s end",
            "local t = {} while true do t[#t + 1] = function() return t end end",
            "local function f(...) return f(1, ...) end f()", "local t = {} while true do t = {t} end",
            "local function g(s) return s .. g(s .. s) end g('x')",
            "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end",
            "local s = string.rep('x', 1e6) local t = {} for i = 1, 1e9 do t[i] = s .. i end"})
    void unboundedMemory_isAnErrorOfTheScript(String script) {
        assertThat(runner.run("local ok, e = pcall(function() " + script + " end) return tostring(e)"))
                .containsAnyOf("not enough memory", "stack overflow");
        assertThat(runner.run("return 'alive'")).isEqualTo("alive");
    }

    @Test
    void memory_staysBounded_ifAScriptCatchesTheError() {
        String script = "local t, n = nil, 0 for i = 1, 100 do pcall(function() while true do"
                + " t = {t, string.rep('x', 1000)} n = n + 1 end end) end return n";
        assertThat(Long.parseLong(runner.run(script)) * 1000).isBetween(LuaLimits.DEFAULTS.memoryBytes() / 2,
                LuaLimits.DEFAULTS.memoryBytes());
    }

    @Test
    void watch_endsAScript_thatCatchesErrorsOfMemory() {
        AtomicInteger checks = new AtomicInteger();
        runner.state().watch(() -> {
            if (checks.incrementAndGet() > 200) {
                throw new LuaKilled("killed");
            }
        });
        String fill = "local t while true do pcall(function() while true do t = {t, string.rep('x', 1000)} end end) end";
        assertThatThrownBy(() -> runner.run(fill)).isInstanceOf(LuaKilled.class);
        assertThat(runner.run("return 'alive'")).isEqualTo("alive");
    }

    @Test
    void garbage_isNotCounted() {
        assertThat(
                runner.run("local n = 0 for i = 1, 2e5 do local t = {i, i, i} n = n + #(i .. 'x') + #t end return n"))
                .isEqualTo("1888895");
        assertThat(runner.state().measure()).isLessThan(1 << 20);
    }

    @Test
    void values_ofUnfinishedExpressions_areCounted() {
        String script = "local function f(n) if n == 0 then return 0 end return #(string.rep('x', 1e6) .. 'y')"
                + " + select(2, string.rep('x', 1e6), f(n - 1)) end return f(100)";
        assertThat(runner.run(script)).isEqualTo("ERR not enough memory");
    }

    @Test
    void watch_endsLoopsAndCoroutines() {
        AtomicInteger checks = new AtomicInteger();
        AtomicReference<Thread> thread = new AtomicReference<>();
        runner.state().watch(() -> {
            thread.set(Thread.currentThread());
            if (checks.incrementAndGet() % 10 == 0) {
                throw new LuaKilled("killed");
            }
        });
        for (String script : List.of("while true do end", "pcall(function() while true do end end)",
                "local function f() return f() end f()", "repeat until false",
                "coroutine.wrap(function() while true do end end)()",
                "local co = coroutine.create(function() pcall(function() while true do end end) end)"
                        + " while true do coroutine.resume(co) end")) {
            assertThatThrownBy(() -> runner.run(script)).as(script).isInstanceOf(LuaKilled.class);
            assertThat(thread.get()).isSameAs(Thread.currentThread());
        }
        assertThat(runner.run("return 1")).isEqualTo("1");
    }

    @Test
    void suspendedCoroutines_endWithTheRun() throws InterruptedException {
        for (int i = 0; i < 5; i++) {
            assertThat(runner.run("local n = 0 for i = 1, 50 do local co = coroutine.wrap(function()"
                    + " coroutine.yield(1) end) n = n + co() end return n")).isEqualTo("50");
        }
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().equals("lua-coroutine")) {
                assertThat(thread.join(Duration.ofSeconds(30))).as("the last one may just be ending").isTrue();
            }
        }
    }

    @Test
    void callsOnOwner_runOnItsThread() {
        LuaState lua = runner.state();
        Thread owner = Thread.currentThread();
        lua.globals().put(LuaString.known("server"), new NativeFunction((state, arguments) -> state.coroutines()
                .onOwner((same, inner) -> {
                    assertThat(Thread.currentThread()).isSameAs(owner);
                    if (inner.isNone(1)) {
                        throw new LuaError("refused");
                    }
                    return same.results(inner.get(1), inner.get(1));
                }, arguments)));
        assertThat(runner.run("local co = coroutine.wrap(function() coroutine.yield(select('#', server(5)))"
                + " return coroutine.wrap(function() return server(6) end)() end)"
                + " return co() .. co() .. tostring(pcall(coroutine.wrap(function() server() end)))"))
                .isEqualTo("26false");
    }

    private static String onSmallThread(String script) throws InterruptedException {
        AtomicReference<String> outcome = new AtomicReference<>();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread thread = new Thread(null, () -> outcome.set(new ScriptRunner().run(script)), "small", THREAD_STACK);
        thread.setUncaughtExceptionHandler((ignored, thrown) -> failure.set(thrown));
        thread.start();
        thread.join();
        assertThat(failure.get()).as(script).isNull();
        return outcome.get();
    }
}
