package io.varve.server.command.script.run;

import io.varve.lua.LuaLimits;
import io.varve.lua.LuaState;
import io.varve.lua.lib.Protection;
import io.varve.lua.lib.StandardLibraries;
import io.varve.server.command.ServerState;

/**
 * The Lua interpreter of one event loop. Confined to that loop.
 *
 * <p>Its globals and libraries cannot be changed by scripts: what one script does, the next one does not see.
 */
final class Interpreter {
    /** The part of the stack of an event loop's thread (8 MiB) that scripts may use. */
    private static final int STACK_BYTES = 5 << 20;
    private static final int MAX_COROUTINES = 64;
    /** A single script may use this part of the heap. */
    private static final int HEAP_SHARE = 4;

    private final LuaState lua;
    private final ReplyReader replyReader;

    /**
     * @param isForFunctions whether it runs functions instead of scripts
     * @param watch decides at intervals whether the running script goes on
     */
    Interpreter(ServerState server, ScriptRunner runner, boolean isForFunctions, LuaState.Watch watch) {
        lua = new LuaState(new LuaLimits(Runtime.getRuntime().maxMemory() / HEAP_SHARE,
                server.scripting().memory(isForFunctions), STACK_BYTES, MAX_COROUTINES));
        lua.watch(watch);
        StandardLibraries.install(lua);
        RedisLibrary.install(lua, runner, isForFunctions);
        Protection.protect(lua, lua.globals());
        replyReader = new ReplyReader(lua);
    }

    LuaState lua() {
        return lua;
    }

    ReplyReader replyReader() {
        return replyReader;
    }
}
