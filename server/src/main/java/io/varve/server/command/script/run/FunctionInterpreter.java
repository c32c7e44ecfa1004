package io.varve.server.command.script.run;

import java.util.IdentityHashMap;
import java.util.Map;

import io.varve.lua.LuaError;
import io.varve.lua.LuaFunction;
import io.varve.lua.LuaTable;
import io.varve.server.command.Version;
import io.varve.server.script.FunctionLibrary;
import io.varve.server.script.LibraryEnvironment;
import io.varve.server.script.LibraryFunction;
import io.varve.server.script.LibrarySet;
import io.varve.server.script.ScriptLog;

/**
 * The interpreter that runs the functions of one event loop. Confined to that loop.
 *
 * <p>It runs the code of a library when a function of it is called here first, so each event loop has its own values of
 * the variables that functions capture. Data that all clients have to see belongs into keys.
 */
final class FunctionInterpreter {
    private final Interpreter interpreter;
    private final LibraryEnvironment environment;
    private final Map<LibraryFunction, LuaFunction> callbacks = new IdentityHashMap<>();
    private LibrarySet known = LibrarySet.EMPTY;

    FunctionInterpreter(Interpreter interpreter) {
        this.interpreter = interpreter;
        LuaTable redis = interpreter.lua().newTable();
        ScriptLog.addSilentTo(redis, Version.REDIS);
        environment = new LibraryEnvironment(interpreter.lua(), redis);
    }

    Interpreter interpreter() {
        return interpreter;
    }

    /**
     * What a call of the function runs.
     *
     * @param current the present libraries: others are dropped
     * @throws LuaError if the library cannot be loaded here
     */
    LuaFunction callback(LibraryFunction function, LibrarySet current) {
        if (known != current) {
            drop(current);
        }
        LuaFunction callback = callbacks.get(function);
        if (callback == null) {
            load(function.library());
            callback = callbacks.get(function);
        }
        if (callback == null) {
            throw new LuaError("the library does not register the function each time it is loaded");
        }
        return callback;
    }

    private void drop(LibrarySet current) {
        for (FunctionLibrary library : known.libraries()) {
            if (current.library(library.name()) != library) {
                environment.forget(library.name());
                library.functions().forEach(callbacks::remove);
            }
        }
        known = current;
        interpreter.lua().measure();
    }

    private void load(FunctionLibrary library) {
        for (LibraryEnvironment.Registered each : environment.run(library.name(), library.program())) {
            for (LibraryFunction function : library.functions()) {
                if (function.name().equals(each.name())) {
                    callbacks.put(function, each.callback());
                }
            }
        }
    }
}
