package io.varve.server.script;

import io.varve.lua.Arguments;
import io.varve.lua.LuaError;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.NativeFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the table {@code redis} has in scripts and while a library is loaded: {@code log}, its levels, and the version.
 * Immutable: static methods only.
 */
public final class ScriptLog {
    private static final Logger SCRIPTS = LoggerFactory.getLogger("io.varve.server.scripts");
    private static final int DEBUG = 0;
    private static final int VERBOSE = 1;
    private static final int NOTICE = 2;
    private static final int WARNING = 3;
    private static final LuaString LOG = LuaString.known("log");
    /** A longer text is cut: one string may be many of its parts. */
    private static final int MAX_CHARS = 64 << 10;

    private ScriptLog() {}

    /** @param version such as 7.2.4 */
    public static void addTo(LuaTable redis, String version) {
        redis.put(LOG, new NativeFunction(ScriptLog::log));
        constant(redis, "LOG_DEBUG", DEBUG);
        constant(redis, "LOG_VERBOSE", VERBOSE);
        constant(redis, "LOG_NOTICE", NOTICE);
        constant(redis, "LOG_WARNING", WARNING);
        redis.put(LuaString.known("REDIS_VERSION"), LuaString.of(version));
        constant(redis, "REDIS_VERSION_NUM", versionNumber(version));
    }

    /** As {@link #addTo}, for code that has run before: it logs nothing. */
    public static void addSilentTo(LuaTable redis, String version) {
        addTo(redis, version);
        redis.put(LOG, new NativeFunction((lua, _) -> lua.results()));
    }

    private static void constant(LuaTable table, String name, int value) {
        table.put(LuaString.known(name), LuaNumber.box(value));
    }

    /** {@code 7.2.4} as 0x070204. */
    private static int versionNumber(String version) {
        int number = 0;
        for (String part : version.split("\\.")) {
            number = number << Byte.SIZE | Integer.parseInt(part);
        }
        return number;
    }

    private static Object log(LuaState lua, Arguments arguments) {
        if (arguments.count() < 2) {
            throw failure(lua, "redis.log() requires two arguments or more.");
        }
        if (!(arguments.get(1) instanceof Double level)) {
            throw failure(lua, "First argument must be a number (log level).");
        }
        if (level < DEBUG || level > WARNING) {
            throw failure(lua, "Invalid debug level.");
        }
        StringBuilder text = new StringBuilder();
        for (int i = 2; i <= arguments.count() && text.length() <= MAX_CHARS; i++) {
            LuaString part = LuaNumber.toLuaString(arguments.get(i));
            if (part != null) {
                text.append(i == 2 ? "" : " ").append(part);
            }
        }
        if (text.length() > MAX_CHARS) {
            text.setLength(MAX_CHARS);
            text.append("...");
        }
        switch (level.intValue()) {
            case DEBUG -> SCRIPTS.trace("{}", text);
            case VERBOSE -> SCRIPTS.debug("{}", text);
            case NOTICE -> SCRIPTS.info("{}", text);
            default -> SCRIPTS.warn("{}", text);
        }
        return lua.results();
    }

    /** An error as a table, which the reply of the script repeats without a position in front. */
    public static LuaError failure(LuaState lua, String text) {
        LuaTable table = lua.newTable(0, 1);
        table.put(LibraryEnvironment.ERR, LuaString.of("ERR " + text));
        return new LuaError((Object) table);
    }
}
