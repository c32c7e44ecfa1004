package io.varve.server.script;

import java.util.function.Function;
import java.util.function.LongSupplier;

import io.varve.lua.LuaPool;
import io.varve.server.command.spec.CommandSpec;
import org.jspecify.annotations.Nullable;

/** The scripts of all event loops: cached scripts, function libraries, and running scripts. Thread-safe. */
public final class Scripting {
    /** Scripts may use this part of the heap, and functions as much. */
    private static final int HEAP_SHARE = 3;
    private final ScriptCache scripts;
    private final FunctionLibraries libraries;
    private final RunningScripts running;
    private final LuaPool scriptMemory = new LuaPool(Runtime.getRuntime().maxMemory() / HEAP_SHARE);
    private final LuaPool functionMemory = new LuaPool(Runtime.getRuntime().maxMemory() / HEAP_SHARE);

    /**
     * @param commands finds a command by its lower-case name
     * @param version of Redis that scripts see
     * @param thresholdMillis {@code busy-reply-threshold}
     */
    public Scripting(Function<String, @Nullable CommandSpec> commands, String version, LongSupplier nanoTime,
            LongSupplier thresholdMillis) {
        scripts = new ScriptCache(commands);
        libraries = new FunctionLibraries(new LibraryLoader(nanoTime, version));
        running = new RunningScripts(nanoTime, thresholdMillis);
    }

    /** The scripts of EVAL and SCRIPT LOAD. */
    public ScriptCache scripts() {
        return scripts;
    }

    /** The libraries of functions. */
    public FunctionLibraries libraries() {
        return libraries;
    }

    /** The memory that scripts of all event loops share, or the functions of all. */
    public LuaPool memory(boolean isForFunctions) {
        return isForFunctions ? functionMemory : scriptMemory;
    }

    /** The scripts that run at the moment. */
    public RunningScripts running() {
        return running;
    }
}
