package io.varve.server.script;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the set of libraries and its limits. Confined to the test's thread. */
class FunctionLibrariesTest {
    private static final long MAX_BYTES = 100_000;

    /** Moves by a millisecond whenever it is read. */
    private final AtomicLong nanos = new AtomicLong();
    private final FunctionLibraries libraries = new FunctionLibraries(
            new LibraryLoader(() -> nanos.addAndGet(1_000_000), "7.2.4"), MAX_BYTES);

    private static byte[] source(String name, String code) {
        return ("#!lua name=" + name + "\n" + code).getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String function(String name) {
        return "redis.register_function('" + name + "', function() return 1 end)\n";
    }

    @Test
    void loading_mayTakeHalfASecond() {
        byte[] endless = source("lib", "while true do end");
        assertThatThrownBy(() -> libraries.load(endless, false, true)).isInstanceOf(ScriptException.class)
                .hasMessage("ERR Error registering functions: ERR FUNCTION LOAD timeout");
        assertThat(nanos.get()).isGreaterThan(500_000_000);
    }

    @Test
    void whatLogOrPrimaryLoad_hasNoDeadline() throws ScriptException {
        byte[] slow = source("lib", "for i = 1, 10000000 do end " + function("f"));
        assertThatThrownBy(() -> libraries.load(slow, false, true)).hasMessageEndingWith("timeout");
        assertThat(libraries.load(slow, false, false)).isEqualTo("lib");
    }

    @Test
    void memory_isLimited() throws ScriptException {
        assertThatThrownBy(() -> libraries.load(new byte[(int) MAX_BYTES], false, true))
                .hasMessageStartingWith("OOM the source of the library is longer than 12500 bytes");
        String refused = "";
        int loaded = 0;
        while (refused.isEmpty()) {
            try {
                libraries.load(source("lib" + loaded, function("f" + loaded) + "-- " + "x".repeat(10_000)), false,
                        true);
                loaded++;
            } catch (ScriptException full) {
                refused = full.reply();
            }
        }
        assertThat(refused).startsWith("OOM the memory for libraries is used up");
        assertThat(loaded).isBetween(5, 9);
        assertThat(libraries.current().libraries()).hasSize(loaded);
        libraries.flush();
        assertThat(libraries.current().heapBytes()).isZero();
    }

    @Test
    void restore_takesAllOrNothing() throws ScriptException {
        libraries.load(source("a", function("f")), false, true);
        LibrarySet both = libraries.add(libraries.add(LibrarySet.EMPTY, source("b", function("g")), true),
                source("a", function("h")), true);
        LibrarySet before = libraries.current();
        assertThatThrownBy(() -> libraries.restore(both, FunctionLibraries.Collision.APPEND))
                .hasMessage("ERR Library a already exists");
        assertThat(libraries.current()).isSameAs(before);
        libraries.restore(both, FunctionLibraries.Collision.REPLACE);
        assertThat(libraries.current().function("f")).isNull();
        assertThat(libraries.current().function("H")).isNotNull();
        LibrarySet other = libraries.add(LibrarySet.EMPTY, source("c", function("G")), true);
        assertThatThrownBy(() -> libraries.restore(other, FunctionLibraries.Collision.REPLACE))
                .hasMessage("ERR Function G already exists");
        libraries.restore(other, FunctionLibraries.Collision.FLUSH);
        assertThat(libraries.current().functionCount()).isOne();
    }
}
