package io.varve.server.command.script.run;

import io.varve.lua.LuaError;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/**
 * Converts the result of a script to a reply, as Redis does. Confined to its event loop.
 *
 * <p>A table that is in the result several times is replied as often, so a reply may be far larger than its values. It
 * takes steps of the script, which can thus be killed, and its size is limited.
 */
final class ResultWriter {
    /** A reply may take so many times the memory that a script's values may take. */
    private static final int MAX_SHARE = 16;
    /** As that of a text, by {@code proto-max-bulk-len}. */
    private static final long MAX_BYTES = 512L << 20;
    /** So many bytes take as long as a step of a script. */
    private static final int STEP_BYTES = 256;
    /** Deeper tables in tables are replied as an error. Redis stops at the size of its interpreter's stack. */
    private static final int MAX_DEPTH = 500;

    /** Counts the errors of replies. */
    @FunctionalInterface
    interface ErrorCounter {
        /** @param isCounted whether it is counted already, for the command that has replied it to the script */
        void add(String error, boolean isCounted);
    }

    private final LuaState lua;
    private final ReplyWriter reply;
    private final int protocol;
    private final ErrorCounter errors;
    private final long begin;
    private final long maxBytes;
    /** Bytes whose steps have been taken. */
    private long countedBytes;

    private ResultWriter(LuaState lua, ReplyWriter reply, int protocol, ErrorCounter errors) {
        this.lua = lua;
        this.reply = reply;
        this.protocol = protocol;
        this.errors = errors;
        begin = reply.pendingBytes();
        maxBytes = Math.min(MAX_BYTES, MAX_SHARE * lua.limits().memoryBytes());
    }

    /**
     * Writes a value. After an exception, the caller takes back what was written.
     *
     * @param protocol what the script chose by {@code redis.setresp}: it decides how booleans are replied
     * @param errors is given each error of the reply
     * @throws LuaError if the reply is too large
     */
    static void write(LuaState lua, ReplyWriter reply, @Nullable Object value, int protocol, ErrorCounter errors) {
        new ResultWriter(lua, reply, protocol, errors).write(value, MAX_DEPTH);
    }

    private void write(@Nullable Object value, int depth) {
        long bytes = reply.pendingBytes() - begin;
        if (bytes > maxBytes) {
            throw new LuaError("the reply of the script has more than " + maxBytes + " bytes");
        }
        lua.tick(1 + (int) ((bytes - countedBytes) / STEP_BYTES));
        countedBytes = bytes;
        switch (value) {
            case LuaString text -> reply.bulk(text.array());
            case Double number -> reply.integer(toLong(number));
            case Boolean bool -> {
                if (protocol >= 3) {
                    reply.bool(bool);
                } else if (bool) {
                    reply.integer(1);
                } else {
                    reply.nil();
                }
            }
            case LuaTable table -> {
                if (depth == 0) {
                    error(LuaString.of("ERR reached lua stack limit"), false);
                } else {
                    writeTable(table, depth - 1);
                }
            }
            case null, default -> reply.nil();
        }
    }

    private void writeTable(LuaTable table, int depth) {
        if (table.get(ReplyReader.ERR) instanceof LuaString text) {
            error(text, table.get(ReplyReader.COUNTED) != null);
        } else if (table.get(ReplyReader.OK) instanceof LuaString text) {
            reply.simple(text.toString().replace('\r', ' ').replace('\n', ' '));
        } else if (table.get(ReplyReader.DOUBLE) instanceof Double number) {
            reply.doubleValue(number);
        } else if (table.get(ReplyReader.MAP) instanceof LuaTable map) {
            writeMap(map, depth);
        } else if (table.get(ReplyReader.SET) instanceof LuaTable set) {
            writeSet(set, depth);
        } else if (table.get(ReplyReader.BIG_NUMBER) instanceof LuaString digits) {
            reply.bigNumber(digits.toString().replace('\r', ' ').replace('\n', ' '));
        } else if (table.get(ReplyReader.VERBATIM) instanceof LuaTable verbatim
                && verbatim.get(ReplyReader.FORMAT) instanceof LuaString format
                && verbatim.get(ReplyReader.STRING) instanceof LuaString text) {
            reply.verbatim(format(format), text.array());
        } else {
            writeArray(table, depth);
        }
    }

    private void error(LuaString text, boolean isCounted) {
        String error = text.toString();
        reply.errorOfBytes(error);
        errors.add(error, isCounted);
    }

    /** The three bytes of a format, as Redis takes them: blanks follow a text that is shorter or has a zero. */
    private static byte[] format(LuaString text) {
        byte[] format = {' ', ' ', ' '};
        for (int i = 0; i < Math.min(format.length, text.length()) && text.byteAt(i) != 0; i++) {
            format[i] = (byte) text.byteAt(i);
        }
        return format;
    }

    private void writeArray(LuaTable table, int depth) {
        int count = 0;
        while (table.get(count + 1) != null) {
            count++;
        }
        reply.array(count);
        for (int i = 1; i <= count; i++) {
            write(table.get(i), depth);
        }
    }

    private void writeMap(LuaTable map, int depth) {
        reply.map(entries(map));
        for (int i = map.nextPosition(0); i > 0; i = map.nextPosition(i)) {
            write(map.keyAt(i), depth);
            write(map.valueAt(i), depth);
        }
    }

    private void writeSet(LuaTable set, int depth) {
        reply.set(entries(set));
        for (int i = set.nextPosition(0); i > 0; i = set.nextPosition(i)) {
            write(set.keyAt(i), depth);
        }
    }

    /** A number without its fraction; one that is no 64-bit integer as x86 converts it, which Redis relies on. */
    private static long toLong(double number) {
        return number >= Long.MIN_VALUE && number < -(double) Long.MIN_VALUE ? (long) number : Long.MIN_VALUE;
    }

    private static int entries(LuaTable table) {
        int count = 0;
        for (int i = table.nextPosition(0); i > 0; i = table.nextPosition(i)) {
            count++;
        }
        return count;
    }
}
