package io.varve.lua.lib.format;

import java.util.Arrays;

import io.varve.lua.Arguments;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.lib.base.Library;
import io.varve.lua.lib.base.LuaBuffer;

/** The library {@code cmsgpack}. Stateless. */
public final class MessagePackLibrary {
    private MessagePackLibrary() {}

    /** Adds the library to the globals. */
    public static void install(LuaState lua, LuaTable globals) {
        LuaTable cmsgpack = lua.newTable();
        Library.register(cmsgpack, "pack", MessagePackLibrary::pack);
        Library.register(cmsgpack, "unpack", (state, arguments) -> unpack(state, arguments, 0, 0));
        Library.register(cmsgpack, "unpack_one",
                (state, arguments) -> unpack(state, arguments, 1, arguments.optLong(2, 0)));
        Library.register(cmsgpack, "unpack_limit", MessagePackLibrary::unpackLimit);
        cmsgpack.put(LuaString.known("_NAME"), LuaString.known("cmsgpack"));
        cmsgpack.put(LuaString.known("_VERSION"), LuaString.known("lua-cmsgpack 0.4.0"));
        cmsgpack.put(LuaString.known("_COPYRIGHT"), LuaString.known("Copyright (C) 2012, Salvatore Sanfilippo"));
        cmsgpack.put(LuaString.known("_DESCRIPTION"), LuaString.known("MessagePack C implementation for Lua"));
        Library.publish(globals, "cmsgpack", cmsgpack);
    }

    private static Object pack(LuaState lua, Arguments arguments) {
        if (arguments.count() == 0) {
            throw arguments.argumentError(0, "MessagePack pack needs input.");
        }
        try (LuaBuffer out = new LuaBuffer(lua)) {
            MessagePackWriter writer = new MessagePackWriter(lua, out);
            for (int i = 1; i <= arguments.count(); i++) {
                writer.write(arguments.get(i), 0);
            }
            return out.toLuaString();
        }
    }

    private static Object unpackLimit(LuaState lua, Arguments arguments) {
        long limit = arguments.checkLong(2);
        return unpack(lua, arguments, limit, arguments.optLong(3, 0));
    }

    /** Unpacks at most {@code limit} values from an offset; all of them if both are 0. */
    private static Object unpack(LuaState lua, Arguments arguments, long limit, long offset) {
        LuaString data = arguments.checkString(1);
        if (offset < 0 || limit < 0) {
            throw arguments.error("Invalid request to unpack with offset of " + (int) offset + " and limit of "
                    + data.length() + ".");
        }
        if (offset > data.length()) {
            throw arguments.error("Start offset " + (int) offset + " greater than input length " + data.length()
                    + ".");
        }
        boolean all = limit == 0 && offset == 0;
        long most = all ? Integer.MAX_VALUE : limit;
        int roots = lua.roots();
        try {
            // The arguments of the other functions are gone from C's stack, where the values are then.
            int used = all ? arguments.count() : 1;
            MessagePackReader reader = new MessagePackReader(lua, arguments, data.array(), (int) offset);
            Object[] values = new Object[4];
            int count = all ? 0 : 1;
            for (int read = 0; read < most && reader.hasMore(); read++) {
                if (count == values.length) {
                    values = Arrays.copyOf(values, 2 * count);
                }
                Object value = reader.read(used + read);
                values[count++] = value;
                lua.root(value);
            }
            if (!all) {
                values[0] = LuaNumber.box(reader.hasMore() ? reader.position() : -1);
            }
            return lua.results(values, 0, count);
        } finally {
            lua.unroot(roots);
        }
    }
}
