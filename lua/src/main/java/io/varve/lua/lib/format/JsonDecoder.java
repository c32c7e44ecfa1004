package io.varve.lua.lib.format;

import java.util.Arrays;

import io.varve.lua.Arguments;
import io.varve.lua.LightUserdata;
import io.varve.lua.LuaError;
import io.varve.lua.LuaState;
import io.varve.lua.LuaTable;
import io.varve.lua.lib.base.Library;
import io.varve.lua.lib.base.LuaBuffer;

/**
 * Reads one JSON text. Confined to the state's thread. It keeps the tables that it is in on a stack of its own, so that
 * a script's settings decide how deep they nest. A table is put into its parent before it has items, so that the state
 * counts the memory of all of them.
 */
final class JsonDecoder {
    private static final int OBJECT = -1;

    private final LuaState lua;
    private final Arguments arguments;
    private final JsonSettings settings;
    private final byte[] text;
    private final JsonTokens tokens;

    // The tables that are open: the last index of an array, or -1 for an object.
    private LuaTable[] tables = new LuaTable[8];
    private int[] indexes = new int[8];
    private int depth;
    /** Whether the innermost table has been opened just now. */
    private boolean isEmpty;
    /** How many values C's library would have on its stack. */
    private int stack = 1;

    JsonDecoder(LuaState lua, Arguments arguments, JsonSettings settings, byte[] text, LuaBuffer buffer) {
        this.lua = lua;
        this.arguments = arguments;
        this.settings = settings;
        this.text = text;
        tokens = new JsonTokens(lua, text, settings.decodeInvalidNumbers != 0, buffer);
    }

    Object decode() {
        if (text.length >= 2 && (text[0] == 0 || text[1] == 0)) {
            throw arguments.error("JSON parser does not support UTF-16 or UTF-32");
        }
        Object root = value(tokens.next());
        lua.root(root);
        while (depth > 0) {
            continueTable();
        }
        JsonTokens.Kind last = tokens.next();
        if (last != JsonTokens.Kind.T_END) {
            throw unexpected("the end", last);
        }
        return root;
    }

    /** Reads the next item of the innermost table, or its end. */
    private void continueTable() {
        int top = depth - 1;
        boolean isObject = indexes[top] == OBJECT;
        JsonTokens.Kind token = tokens.next();
        if (token == (isObject ? JsonTokens.Kind.T_OBJ_END : JsonTokens.Kind.T_ARR_END)) {
            close();
            return;
        }
        if (!isEmpty) {
            if (token != JsonTokens.Kind.T_COMMA) {
                throw unexpected(isObject ? "comma or object end" : "comma or array end", token);
            }
            token = tokens.next();
        }
        isEmpty = false;
        LuaTable table = tables[top];
        if (isObject) {
            field(table, token);
        } else {
            indexes[top]++;
            int index = indexes[top];
            table.set(index, value(token));
        }
    }

    private void field(LuaTable table, JsonTokens.Kind first) {
        if (first != JsonTokens.Kind.T_STRING) {
            throw unexpected("object key string", first);
        }
        Object name = tokens.value();
        JsonTokens.Kind colon = tokens.next();
        if (colon != JsonTokens.Kind.T_COLON) {
            throw unexpected("colon", colon);
        }
        table.set(name, value(tokens.next()));
    }

    /** The value that begins with a token; of a table the empty table, which is open then. */
    private Object value(JsonTokens.Kind token) {
        return switch (token) {
            case T_STRING, T_NUMBER, T_BOOLEAN -> tokens.value();
            case T_NULL -> LightUserdata.NULL;
            case T_OBJ_BEGIN -> open(OBJECT, 3);
            case T_ARR_BEGIN -> open(0, 2);
            default -> throw unexpected("value", token);
        };
    }

    private LuaTable open(int index, int slots) {
        if (depth + 1 > settings.decodeMaxDepth || stack + slots > Library.MAX_STACK) {
            throw arguments.error("Found too many nested data structures (" + (depth + 1) + ") at character "
                    + tokens.at());
        }
        LuaTable table = lua.newTable();
        if (depth == tables.length) {
            tables = Arrays.copyOf(tables, 2 * depth);
            indexes = Arrays.copyOf(indexes, 2 * depth);
        }
        tables[depth] = table;
        indexes[depth] = index;
        depth++;
        stack += slots - 1;
        isEmpty = true;
        return table;
    }

    private void close() {
        depth--;
        isEmpty = false;
        stack -= indexes[depth] == OBJECT ? 2 : 1;
        tables[depth] = null;
    }

    private LuaError unexpected(String expected, JsonTokens.Kind found) {
        String what = found == JsonTokens.Kind.T_ERROR ? tokens.problem() : found.name();
        return arguments.error("Expected " + expected + " but found " + what + " at character "
                + (tokens.start() + 1));
    }
}
