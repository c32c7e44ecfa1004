package io.varve.server.script;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.varve.lua.LuaError;
import io.varve.lua.LuaKilled;
import io.varve.lua.LuaLimits;
import io.varve.lua.LuaState;
import io.varve.lua.LuaTable;
import io.varve.lua.interpreter.LuaCompiler;
import io.varve.lua.interpreter.LuaProgram;
import io.varve.lua.lib.StandardLibraries;
import org.jspecify.annotations.Nullable;

/**
 * Compiles libraries, and runs their code once in an interpreter that it throws away, to learn the functions.
 * Immutable; callers of all threads may load at a time.
 */
final class LibraryLoader {
    private static final String CHUNK = "@user_function";
    private static final String FAILED = "ERR Error registering functions: ";
    /** As in Redis. */
    private static final long MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /** Code that registers functions needs little. */
    private static final LuaLimits LIMITS = new LuaLimits(4L << 20, 256 << 10, 8);

    private final LongSupplier nanoTime;
    private final String version;

    /** @param version that {@code redis.REDIS_VERSION} names */
    LibraryLoader(LongSupplier nanoTime, String version) {
        this.nanoTime = nanoTime;
        this.version = version;
    }

    /**
     * Loads a library.
     *
     * @param isLimited whether its code has to end soon
     * @throws ScriptException if it is invalid
     */
    FunctionLibrary load(LibraryHeader header, byte[] source, boolean isLimited) throws ScriptException {
        LuaProgram program;
        try {
            program = LuaCompiler.compile(Arrays.copyOfRange(source, header.bodyStart(), source.length), CHUNK);
        } catch (LuaError invalid) {
            throw new ScriptException("ERR Error compiling function: " + invalid.getMessage());
        }
        List<LibraryFunction> functions = new ArrayList<>();
        for (LibraryEnvironment.Registered each : run(header.name(), program, isLimited)) {
            functions.add(new LibraryFunction(each.name(), description(each), each.flags()));
        }
        if (functions.isEmpty()) {
            throw new ScriptException("ERR No functions registered");
        }
        return new FunctionLibrary(header.name(), source, program, functions);
    }

    private static byte @Nullable [] description(LibraryEnvironment.Registered function) {
        return function.description() == null ? null : function.description().array();
    }

    private List<LibraryEnvironment.Registered> run(String library, LuaProgram program, boolean isLimited)
            throws ScriptException {
        LuaState lua = new LuaState(LIMITS);
        if (isLimited) {
            long start = nanoTime.getAsLong();
            lua.watch(() -> {
                if (nanoTime.getAsLong() - start > MAX_NANOS) {
                    throw new LuaKilled("FUNCTION LOAD timeout");
                }
            });
        }
        StandardLibraries.install(lua);
        LuaTable redis = lua.newTable();
        ScriptLog.addTo(redis, version);
        try {
            return new LibraryEnvironment(lua, redis).run(library, program);
        } catch (LuaError error) {
            throw new ScriptException(FAILED + LibraryEnvironment.text(error));
        } catch (LuaKilled late) {
            throw new ScriptException(FAILED + "ERR " + late.getMessage());
        }
    }
}
