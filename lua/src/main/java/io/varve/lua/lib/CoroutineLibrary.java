package io.varve.lua.lib;

import java.util.Locale;

import io.varve.lua.Arguments;
import io.varve.lua.Coroutine;
import io.varve.lua.LuaError;
import io.varve.lua.LuaFunction;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.MemoryMeasure;
import io.varve.lua.lib.base.Library;

/** The table coroutine. Stateless. */
final class CoroutineLibrary {
    private CoroutineLibrary() {}

    static void install(LuaState lua, LuaTable globals) {
        LuaTable coroutine = lua.newTable(0, 6);
        Library.register(coroutine, "create", (state, arguments) -> create(state, arguments));
        Library.register(coroutine, "resume", CoroutineLibrary::resume);
        Library.register(coroutine, "running", (state, arguments) -> state.coroutines().running());
        Library.register(coroutine, "status", CoroutineLibrary::status);
        Library.register(coroutine, "wrap", (state, arguments) -> new Wrapped(create(state, arguments)));
        Library.register(coroutine, "yield", (state, arguments) -> state.coroutines().suspend(arguments));
        globals.put(LuaString.known("coroutine"), coroutine);
    }

    private static Coroutine create(LuaState lua, Arguments arguments) {
        if (!(arguments.get(1) instanceof LuaFunction function) || function.isNative()) {
            throw arguments.argumentError(1, "Lua function expected");
        }
        return Coroutine.create(lua, function);
    }

    private static Coroutine check(Arguments arguments) {
        if (arguments.get(1) instanceof Coroutine coroutine) {
            return coroutine;
        }
        throw arguments.argumentError(1, "coroutine expected");
    }

    private static Object resume(LuaState lua, Arguments arguments) {
        Coroutine coroutine = check(arguments);
        long mark = lua.mark();
        Arguments level = lua.current();
        try {
            return lua.prepend(true,
                    coroutine.resume(arguments.array(), arguments.offset() + 1, arguments.count() - 1));
        } catch (LuaError error) {
            lua.restore(mark, level);
            return lua.results(false, error.value());
        }
    }

    private static Object status(LuaState lua, Arguments arguments) {
        return LuaString.known(check(arguments).status().name().toLowerCase(Locale.ROOT));
    }

    /** The function that {@code coroutine.wrap} returns. Confined to the state's thread. */
    private static final class Wrapped extends LuaFunction {
        private final Coroutine coroutine;

        Wrapped(Coroutine coroutine) {
            this.coroutine = coroutine;
        }

        @Override
        public Object call(LuaState lua, Arguments arguments) {
            try {
                return coroutine.resume(arguments.array(), arguments.offset(), arguments.count());
            } catch (LuaError error) {
                Object value = error.value();
                if (value instanceof LuaString || value instanceof Double) {
                    throw new LuaError(arguments.where(1) + LuaNumber.text(value));
                }
                throw error;
            }
        }

        @Override
        protected void addReferences(MemoryMeasure measure) {
            measure.add(coroutine);
        }
    }
}
