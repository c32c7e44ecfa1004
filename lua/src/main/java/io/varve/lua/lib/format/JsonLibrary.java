package io.varve.lua.lib.format;

import io.varve.lua.Arguments;
import io.varve.lua.LightUserdata;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.lib.base.Library;
import io.varve.lua.lib.base.LuaBuffer;

/** The library {@code cjson}. Stateless; each state has settings, which last until the script ends. */
public final class JsonLibrary {
    private JsonLibrary() {}

    /** Adds the library to the globals. */
    public static void install(LuaState lua, LuaTable globals) {
        JsonSettings settings = new JsonSettings();
        lua.onEndRun(settings::reset);
        LuaTable cjson = library(lua, settings);
        Library.publish(globals, "cjson", cjson);
    }

    private static LuaTable library(LuaState lua, JsonSettings settings) {
        LuaTable cjson = lua.newTable();
        Library.register(cjson, "encode", (state, arguments) -> encode(state, arguments, settings));
        Library.register(cjson, "decode", (state, arguments) -> decode(state, arguments, settings));
        Library.register(cjson, "encode_sparse_array", settings::sparseArray);
        Library.register(cjson, "encode_max_depth", settings::encodeMaxDepth);
        Library.register(cjson, "decode_max_depth", settings::decodeMaxDepth);
        Library.register(cjson, "encode_number_precision", settings::encodePrecision);
        Library.register(cjson, "encode_keep_buffer", settings::encodeKeepBuffer);
        Library.register(cjson, "encode_invalid_numbers", settings::encodeInvalidNumbers);
        Library.register(cjson, "decode_invalid_numbers", settings::decodeInvalidNumbers);
        Library.register(cjson, "new", (state, arguments) -> library(state, new JsonSettings()));
        cjson.put(LuaString.known("null"), LightUserdata.NULL);
        cjson.put(LuaString.known("_NAME"), LuaString.known("cjson"));
        cjson.put(LuaString.known("_VERSION"), LuaString.known("2.1.0"));
        return cjson;
    }

    private static Object encode(LuaState lua, Arguments arguments, JsonSettings settings) {
        checkOne(arguments);
        try (LuaBuffer out = new LuaBuffer(lua)) {
            new JsonEncoder(lua, arguments, settings, out).encode(arguments.get(1));
            return out.toLuaString();
        }
    }

    private static Object decode(LuaState lua, Arguments arguments, JsonSettings settings) {
        checkOne(arguments);
        LuaString text = arguments.checkString(1);
        int roots = lua.roots();
        try (LuaBuffer buffer = new LuaBuffer(lua)) {
            return new JsonDecoder(lua, arguments, settings, text.array(), buffer).decode();
        } finally {
            lua.unroot(roots);
        }
    }

    private static void checkOne(Arguments arguments) {
        if (arguments.count() != 1) {
            throw arguments.argumentError(1, "expected 1 argument");
        }
    }
}
