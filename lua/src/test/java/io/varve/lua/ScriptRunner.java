package io.varve.lua;

import java.nio.charset.StandardCharsets;

import io.varve.lua.interpreter.LuaCompiler;
import io.varve.lua.interpreter.LuaProgram;
import io.varve.lua.lib.Protection;
import io.varve.lua.lib.StandardLibraries;

/**
 * Runs scripts and renders their outcome as text, by a script that a real Redis runs too. Confined to the test's
 * thread.
 */
public final class ScriptRunner {
    /** Runs the first of ARGV and returns all its values, or its error, as text. */
    public static final String WRAPPER = """
            local code = ARGV[1]
            local f, e = loadstring(code, '@user_script')
            if not f then return 'COMPILE '..e end
            local function ser(v, d)
              local t = type(v)
              if t == 'table' then
                if d > 4 then return '{...}' end
                local s = '{'
                for k, x in pairs(v) do s = s..ser(k, d+1)..'='..ser(x, d+1)..';' end
                return s..'}#'..#v
              elseif t == 'string' then return '"'..v..'"'
              elseif t == 'function' or t == 'thread' or t == 'userdata' then return t
              else return tostring(v) end
            end
            local function all(n, ...)
              local s = ''
              local t = {...}
              for i = 1, n do s = s..ser(t[i], 0)..' ' end
              return s
            end
            local function pack(...) return all(select('#', ...), ...) end
            return pack(pcall(f))
            """;
    private static final LuaString ARGV = LuaString.known("ARGV");
    private static final LuaString KEYS = LuaString.known("KEYS");
    private static final LuaProgram WRAPPER_PROGRAM = LuaCompiler.compile(latin1(WRAPPER), "@user_script");
    private final LuaState lua;

    public ScriptRunner() {
        this(LuaLimits.DEFAULTS);
    }

    public ScriptRunner(LuaLimits limits) {
        lua = new LuaState(limits);
        StandardLibraries.install(lua);
        Protection.protect(lua, lua.globals());
    }

    public LuaState state() {
        return lua;
    }

    /** The outcome of a script as the wrapper renders it. */
    public String render(String script) {
        LuaTable arguments = lua.newTable();
        arguments.put(1, LuaString.of(script));
        lua.globals().put(ARGV, arguments);
        lua.globals().put(KEYS, lua.newTable());
        return run(WRAPPER_PROGRAM);
    }

    /** What a script returns, as a string; or its error. */
    public String run(String script) {
        try {
            return run(LuaCompiler.compile(latin1(script), "@user_script"));
        } catch (LuaError refused) {
            return "ERR " + refused.getMessage();
        }
    }

    private String run(LuaProgram program) {
        try {
            Object value = LuaState.first(lua.call(program.function(lua)));
            return LuaNumber.text(lua.tostring(value));
        } catch (LuaError failed) {
            return "ERR " + failed.getMessage();
        } finally {
            lua.endRun();
        }
    }

    /** Each char as a byte. */
    public static byte[] latin1(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
