package io.varve.lua;

import java.nio.charset.StandardCharsets;

import io.varve.lua.interpreter.LuaCompiler;
import io.varve.lua.lib.StandardLibraries;

/** Runs scripts with all libraries and shows what they return. Confined to the thread of the test. */
public final class Scripts {
    /** What Redis runs to show the same: the script is ARGV[i]. */
    public static final String SHOW = """
            local function text(...)
              local out = {}
              for i = 1, select('#', ...) do
                local v = select(i, ...)
                local t = type(v)
                if t == 'table' or t == 'function' then out[i] = t else out[i] = t .. ' ' .. tostring(v) end
              end
              return table.concat(out, '\\n')
            end
            local function show(ok, ...)
              if ok then return text(...) end
              if type(...) ~= 'string' then return 'error ' .. text(...) end
              return 'error ' .. tostring(...)
            end
            local out = {}
            for i = 1, #ARGV do
              local f, e = loadstring(ARGV[i], '@user_script')
              if f then out[i] = show(pcall(f)) else out[i] = 'error ' .. e end
            end
            return out
            """;

    private final LuaState lua = new LuaState(LuaLimits.DEFAULTS);

    /** A state of its own. */
    public Scripts() {
        StandardLibraries.install(lua);
    }

    /** The state. */
    public LuaState lua() {
        return lua;
    }

    /** What a script returns, one line for each value, or its error. */
    public String run(String latin1) {
        try {
            byte[] source = latin1.getBytes(StandardCharsets.ISO_8859_1);
            Object returned = lua.call(LuaCompiler.compile(source, "@user_script").function(lua));
            return show(returned);
        } catch (LuaError error) {
            return "error " + (error.value() instanceof LuaString || error.value() instanceof Double
                    ? LuaNumber.toLuaString(error.value()).toString()
                    : show(error.value()));
        } finally {
            lua.endRun();
        }
    }

    private String show(Object returned) {
        if (returned instanceof Results results) {
            StringBuilder text = new StringBuilder();
            for (int i = 1; i <= results.count(); i++) {
                text.append(i == 1 ? "" : "\n").append(show(results.get(i)));
            }
            return text.toString();
        }
        String type = LuaState.typeName(returned);
        return type.equals("table") || type.equals("function") ? type : type + " " + lua.tostring(returned);
    }
}
