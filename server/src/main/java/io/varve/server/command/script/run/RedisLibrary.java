package io.varve.server.command.script.run;

import java.util.Objects;

import io.varve.lua.Arguments;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.NativeFunction;
import io.varve.server.command.CommandContext;
import io.varve.server.command.Version;
import io.varve.server.script.ScriptLog;
import io.varve.server.script.Sha1;

/** The table {@code redis} of scripts, which is also named {@code server}, as in Valkey. Confined to its event loop. */
final class RedisLibrary {
    private static final byte[] NOTHING = {};
    private static final int REPLICATE_NONE = 0;
    private static final int REPLICATE_LOG = 1;
    private static final int REPLICATE_REPLICAS = 2;
    private static final int REPLICATE_ALL = 3;
    private static final int RESP2 = 2;
    private static final int RESP3 = 3;

    private final ScriptRunner runner;

    private RedisLibrary(ScriptRunner runner) {
        this.runner = runner;
    }

    /** @param isForFunctions whether functions see it, which have fewer fields than scripts, as in Redis */
    static void install(LuaState lua, ScriptRunner runner, boolean isForFunctions) {
        LuaTable redis = lua.newTable();
        ScriptLog.addTo(redis, Version.REDIS);
        RedisLibrary library = new RedisLibrary(runner);
        library.addFunctions(redis);
        addConstants(redis);
        if (!isForFunctions) {
            add(redis, "replicate_commands", (_, _) -> true);
            add(redis, "breakpoint", (_, _) -> false);
            add(redis, "debug", (state, _) -> state.results());
        }
        lua.globals().put(LuaString.known("redis"), redis);
        lua.globals().put(LuaString.known("server"), redis);
    }

    private void addFunctions(LuaTable redis) {
        add(redis, "call", (lua, arguments) -> runner.call(lua, arguments, false));
        add(redis, "pcall", (lua, arguments) -> runner.call(lua, arguments, true));
        add(redis, "error_reply", (lua, arguments) -> tagged(lua, arguments, ReplyReader.ERR));
        add(redis, "status_reply", (lua, arguments) -> tagged(lua, arguments, ReplyReader.OK));
        add(redis, "sha1hex", RedisLibrary::sha1);
        add(redis, "setresp", this::setProtocol);
        add(redis, "set_repl", this::setReplication);
        add(redis, "acl_check_cmd", this::checkAccess);
    }

    private static void add(LuaTable table, String name, NativeFunction.Body body) {
        // A coroutine has a thread of its own, which holds no locks.
        table.put(LuaString.known(name),
                new NativeFunction((lua, arguments) -> lua.coroutines().onOwner(body, arguments)));
    }

    private static void addConstants(LuaTable redis) {
        constant(redis, "REPL_NONE", REPLICATE_NONE);
        constant(redis, "REPL_AOF", REPLICATE_LOG);
        constant(redis, "REPL_SLAVE", REPLICATE_REPLICAS);
        constant(redis, "REPL_REPLICA", REPLICATE_REPLICAS);
        constant(redis, "REPL_ALL", REPLICATE_ALL);
    }

    private static void constant(LuaTable table, String name, int value) {
        table.put(LuaString.known(name), LuaNumber.box(value));
    }

    private static LuaTable tagged(LuaState lua, Arguments arguments, LuaString tag) {
        LuaTable table = lua.newTable(0, 1);
        if (arguments.count() == 1 && arguments.get(1) instanceof LuaString text) {
            table.put(tag, tag.equals(ReplyReader.ERR) ? error(text) : text);
        } else {
            table.put(ReplyReader.ERR, LuaString.of("ERR wrong number or type of arguments"));
        }
        return table;
    }

    /** As in Redis, the first word of an error is its code; one without a blank has none. */
    private static LuaString error(LuaString text) {
        String error = text.toString();
        error = error.startsWith("-") ? error.substring(1) : error;
        return LuaString.of(error.indexOf(' ') < 0 ? "ERR " + error : error);
    }

    /** The digest of a text or number; that of nothing, as in Redis, for other values. */
    private static LuaString sha1(LuaState lua, Arguments arguments) {
        if (arguments.count() != 1) {
            throw ScriptLog.failure(lua, "wrong number of arguments");
        }
        Object value = arguments.get(1);
        boolean isText = value instanceof LuaString || value instanceof Double;
        return LuaString.of(Sha1.of(isText ? arguments.checkString(1).array() : NOTHING));
    }

    private Object setProtocol(LuaState lua, Arguments arguments) {
        if (arguments.count() != 1) {
            throw ScriptLog.failure(lua, "redis.setresp() requires one argument.");
        }
        double version = arguments.checkNumber(1);
        if (version != RESP2 && version != RESP3) {
            throw ScriptLog.failure(lua, "RESP version must be 2 or 3.");
        }
        runner.protocol((int) version);
        return lua.results();
    }

    private Object setReplication(LuaState lua, Arguments arguments) {
        if (arguments.count() != 1) {
            throw ScriptLog.failure(lua, "redis.set_repl() requires two arguments.");
        }
        int wanted = arguments.checkInt(1);
        if (wanted < REPLICATE_NONE || wanted > REPLICATE_ALL) {
            throw ScriptLog.failure(lua,
                    "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.");
        }
        runner.replicates(wanted != REPLICATE_NONE);
        return lua.results();
    }

    private Object checkAccess(LuaState lua, Arguments arguments) {
        if (arguments.count() == 0) {
            throw ScriptLog.failure(lua, "Please specify at least one argument for this redis lib call");
        }
        CommandContext script = Objects.requireNonNull(runner.running());
        Boolean permitted = runner.isPermitted(script, arguments);
        if (permitted == null) {
            throw ScriptLog.failure(lua, "Invalid command passed to redis.acl_check_cmd()");
        }
        return permitted;
    }
}
