package io.varve.lua.lib;

import io.varve.lua.Arguments;
import io.varve.lua.LuaError;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.NativeFunction;
import io.varve.lua.lib.base.Library;

/** next, pairs and ipairs. Stateless. */
final class Iterators {
    private static final NativeFunction NEXT = new NativeFunction(Iterators::next);
    private static final NativeFunction INEXT = new NativeFunction(Iterators::inext);
    private static final Double ZERO = LuaNumber.box(0);

    private Iterators() {}

    static void install(LuaTable globals) {
        globals.put(LuaString.known("next"), NEXT);
        Library.register(globals, "pairs", (lua, arguments) -> lua.results(NEXT, arguments.checkTable(1), null));
        Library.register(globals, "ipairs", (lua, arguments) -> lua.results(INEXT, arguments.checkTable(1), ZERO));
    }

    private static Object next(LuaState lua, Arguments arguments) {
        LuaTable table = arguments.checkTable(1);
        int position = table.positionOf(arguments.get(2));
        if (position < 0) {
            throw new LuaError("invalid key to 'next'");
        }
        int next = table.nextPosition(position);
        return next < 0 ? null : lua.results(table.keyAt(next), table.valueAt(next));
    }

    private static Object inext(LuaState lua, Arguments arguments) {
        int index = arguments.checkInt(2) + 1;
        Object value = arguments.checkTable(1).get(index);
        return value == null ? lua.results() : lua.results(LuaNumber.box(index), value);
    }
}
