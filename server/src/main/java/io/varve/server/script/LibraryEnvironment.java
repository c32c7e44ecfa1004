package io.varve.server.script;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.varve.lua.Arguments;
import io.varve.lua.LuaError;
import io.varve.lua.LuaFunction;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.NativeFunction;
import io.varve.lua.interpreter.LuaProgram;
import io.varve.lua.lib.Protection;
import org.jspecify.annotations.Nullable;

/**
 * The globals of library code in one interpreter. Confined to the interpreter's thread.
 *
 * <p>As in Redis, code sees hardly more than {@code redis.register_function} while it is loaded, and the interpreter's
 * globals when its functions are called: one table stands for both, which looks up its fields in the one or the other.
 */
public final class LibraryEnvironment {
    static final LuaString ERR = LuaString.known("err");
    private static final LuaString INDEX = LuaString.known("__index");
    private static final LuaString KEPT = LuaString.known("functions");
    private static final LuaString REGISTER = LuaString.known("register_function");
    /** Names and descriptions of a library may take this much, bytes. */
    private static final long MAX_TEXT_BYTES = 1L << 20;
    /** A function takes this much beside its texts. */
    private static final int FUNCTION_BYTES = 256;

    private final LuaState lua;
    private final LuaTable globals;
    private final LuaTable metatable;
    private final LuaTable whileLoading;
    /** The functions by library and name, where a measure of the interpreter's memory finds them. */
    private final LuaTable kept;
    /** The functions of the library that is being loaded; null if none is. */
    private @Nullable List<Registered> registered;
    private LuaTable callbacks;
    private long textBytes;

    /**
     * A function that library code has registered. Immutable.
     *
     * @param description null if it has none
     * @param callback what FCALL calls
     */
    public record Registered(String name, @Nullable LuaString description, Set<ScriptFlag> flags,
            LuaFunction callback) {}

    /**
     * Creates the globals of all libraries in an interpreter.
     *
     * @param redis what the table {@code redis} has while a library is loaded, beside {@code register_function}
     */
    public LibraryEnvironment(LuaState lua, LuaTable redis) {
        this.lua = lua;
        redis.put(REGISTER, new NativeFunction(this::register));
        Protection.protect(lua, redis);
        whileLoading = lua.newTable();
        whileLoading.put(LuaString.known("redis"), redis);
        whileLoading.put(LuaString.known("server"), redis);
        Protection.protect(lua, whileLoading);
        metatable = lua.newTable();
        metatable.put(INDEX, lua.globals());
        kept = lua.newTable();
        callbacks = kept;
        // Code cannot reach the metatable of its globals: _G names those of the interpreter.
        metatable.put(KEPT, kept);
        metatable.readOnly(true);
        globals = lua.newTable();
        globals.metatable(metatable);
        globals.readOnly(true);
    }

    /**
     * Runs the code of a library. Its functions stay in the interpreter until {@link #forget}.
     *
     * @return its functions
     * @throws LuaError if it fails: see {@link #text}
     */
    public List<Registered> run(String library, LuaProgram program) {
        List<Registered> functions = new ArrayList<>();
        registered = functions;
        textBytes = 0;
        callbacks = lua.newTable();
        kept.put(LuaString.of(library), callbacks);
        metatable.put(INDEX, whileLoading);
        try {
            lua.call(program.function(lua, globals));
        } finally {
            registered = null;
            metatable.put(INDEX, lua.globals());
        }
        return functions;
    }

    /** Drops the functions of a library. */
    public void forget(String library) {
        kept.put(LuaString.of(library), null);
    }

    /** The text of an error of library code. */
    public static String text(LuaError error) {
        return error.value() instanceof LuaTable table && table.get(ERR) instanceof LuaString text
                ? text.toString()
                : "ERR " + error.getMessage();
    }

    // --- register_function

    private Object register(LuaState state, Arguments arguments) {
        List<Registered> functions = registered;
        if (functions == null) {
            throw failure("redis.register_function can only be called on FUNCTION LOAD command");
        }
        Registered function = switch (arguments.count()) {
            case 1 -> named(arguments);
            case 2 -> positional(arguments);
            default -> throw failure("wrong number of arguments to redis.register_function");
        };
        if (!LibraryHeader.isName(function.name())) {
            throw failure(LibraryHeader.WRONG_NAME);
        }
        for (Registered other : functions) {
            // Redis allows two names that differ in case, of which FCALL finds one.
            if (other.name().equalsIgnoreCase(function.name())) {
                throw failure("Function already exists in the library");
            }
        }
        textBytes += FUNCTION_BYTES + (function.description() == null ? 0 : function.description().length());
        if (textBytes > MAX_TEXT_BYTES) {
            throw new LuaError("not enough memory");
        }
        callbacks.put(LuaString.of(function.name()), function.callback());
        functions.add(function);
        return state.results();
    }

    private Registered positional(Arguments arguments) {
        LuaString name = LuaNumber.toLuaString(arguments.get(1));
        if (name == null) {
            throw failure("first argument to redis.register_function must be a string");
        }
        if (!(arguments.get(2) instanceof LuaFunction callback)) {
            throw failure("second argument to redis.register_function must be a function");
        }
        return new Registered(name.toString(), null, Set.of(), callback);
    }

    private Registered named(Arguments arguments) {
        if (!(arguments.get(1) instanceof LuaTable table)) {
            throw failure("calling redis.register_function with a single argument is only applicable to Lua table"
                    + " (representing named arguments).");
        }
        LuaString name = null;
        LuaString description = null;
        LuaFunction callback = null;
        Set<ScriptFlag> flags = Set.of();
        for (int at = table.nextPosition(0); at > 0; at = table.nextPosition(at)) {
            LuaString key = LuaNumber.toLuaString(table.keyAt(at));
            Object value = table.valueAt(at);
            if (key == null) {
                throw failure("named argument key given to redis.register_function is not a string");
            }
            switch (key.toString().toLowerCase(Locale.ROOT)) {
                case "function_name" -> name = string(value, "function_name");
                case "description" -> description = string(value, "description");
                case "callback" -> {
                    if (!(value instanceof LuaFunction function)) {
                        throw failure("callback argument given to redis.register_function must be a function");
                    }
                    callback = function;
                }
                case "flags" -> flags = flags(value);
                default -> throw failure("unknown argument given to redis.register_function");
            }
        }
        if (name == null) {
            throw failure("redis.register_function must get a function name argument");
        }
        if (callback == null) {
            throw failure("redis.register_function must get a callback argument");
        }
        return new Registered(name.toString(), description, flags, callback);
    }

    private LuaString string(@Nullable Object value, String argument) {
        LuaString text = LuaNumber.toLuaString(value);
        if (text == null) {
            throw failure(argument + " argument given to redis.register_function must be a string");
        }
        return text;
    }

    private Set<ScriptFlag> flags(@Nullable Object value) {
        if (!(value instanceof LuaTable table)) {
            throw failure("flags argument to redis.register_function must be a table representing function flags");
        }
        Set<ScriptFlag> flags = EnumSet.noneOf(ScriptFlag.class);
        for (int i = 1; lua.index(table, LuaNumber.box(i)) != null; i++) {
            LuaString name = LuaNumber.toLuaString(lua.index(table, LuaNumber.box(i)));
            ScriptFlag flag = name == null ? null : ScriptFlag.of(name.toString().toLowerCase(Locale.ROOT));
            if (flag == null) {
                throw failure("unknown flag given");
            }
            lua.tick();
            flags.add(flag);
        }
        return flags;
    }

    private LuaError failure(String text) {
        return ScriptLog.failure(lua, text);
    }
}
