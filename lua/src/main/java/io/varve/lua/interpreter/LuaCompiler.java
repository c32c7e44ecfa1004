package io.varve.lua.interpreter;

import io.varve.lua.LuaError;
import io.varve.lua.syntax.ChunkName;
import io.varve.lua.syntax.FunctionBody;
import io.varve.lua.syntax.Parser;

/** Compiles chunks. Stateless. */
public final class LuaCompiler {
    private LuaCompiler() {}

    /**
     * Compiles source.
     *
     * @param chunkName "@user_script" or "=user_script" shows as user_script in messages; anything else is source text
     *        and shows as {@code [string "..."]}
     * @throws LuaError with C Lua's message if there is an error in the source
     */
    public static LuaProgram compile(byte[] source, String chunkName) {
        return compile(Parser.parse(source, chunkName), chunkName);
    }

    /** Compiles what {@link Parser} has parsed. */
    public static LuaProgram compile(FunctionBody chunk, String chunkName) {
        FunctionBuilder builder = new FunctionBuilder(ChunkName.display(chunkName, ChunkName.RUNTIME_ROOM), null);
        Prototype prototype = builder.build(chunk);
        return new LuaProgram(prototype, builder.nodes());
    }
}
