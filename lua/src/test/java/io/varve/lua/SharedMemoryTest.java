package io.varve.lua;

import io.varve.lua.interpreter.LuaCompiler;
import io.varve.lua.lib.StandardLibraries;
import org.junit.jupiter.api.Test;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the memory that states share: a large script finds it, and gives it back. Confined to the test's thread. */
class SharedMemoryTest {
    private static final long LIMIT = 12 << 20;
    private final LuaPool pool = new LuaPool(LIMIT + (4 << 20));
    private final LuaState first = state();
    private final LuaState second = state();

    private LuaState state() {
        LuaState lua = new LuaState(new LuaLimits(LIMIT, pool, 640 << 10, 64));
        StandardLibraries.install(lua);
        return lua;
    }

    private static void run(LuaState lua, String program) {
        lua.call(LuaCompiler.compile(program.getBytes(ISO_8859_1), "@test").function(lua));
    }

    private static String kept(int megabytes) {
        return "t = {} for i = 1, " + megabytes + " do t[i] = string.rep('x', 1048576) .. i end";
    }

    @Test
    void oneState_usesAlmostAll_andGivesItBack() {
        for (int i = 0; i < 20; i++) {
            LuaState lua = i % 2 == 0 ? first : second;
            run(lua, kept(9) + " t = nil");
            lua.endRun();
        }
    }

    @Test
    void whatOneStateKeeps_isMissingForAnother() {
        run(first, kept(9));
        first.endRun();
        assertThat(first.usedBytes()).isGreaterThan(9 << 20);
        assertThatThrownBy(() -> run(second, kept(9))).isInstanceOf(LuaError.class)
                .hasMessageContaining("not enough memory");
        second.endRun();
        run(first, "t = nil");
        first.measure();
        run(second, "t = nil " + kept(9));
    }

    @Test
    void noState_usesMoreThanItsLimit() {
        assertThatThrownBy(() -> run(first, kept(13))).isInstanceOf(LuaError.class)
                .hasMessageContaining("not enough memory");
    }
}
