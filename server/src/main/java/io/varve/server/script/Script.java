package io.varve.server.script;

import java.util.Set;
import java.util.function.Function;

import io.varve.lua.LuaError;
import io.varve.lua.interpreter.LuaCompiler;
import io.varve.lua.interpreter.LuaProgram;
import io.varve.lua.syntax.FunctionBody;
import io.varve.lua.syntax.Parser;
import io.varve.server.command.spec.CommandSpec;
import org.jspecify.annotations.Nullable;

/**
 * A compiled script, shared by all event loops. Immutable.
 *
 * @param sha1 its name: the digest of its source
 * @param program the compiled source
 * @param flags those of its header; null if it has no header
 * @param namesItsKeys whether it uses no key but the declared ones ({@link KeyUse})
 * @param heapBytes approximate heap size, bytes
 */
public record Script(String sha1, LuaProgram program, @Nullable Set<ScriptFlag> flags, boolean namesItsKeys,
        int heapBytes) {
    /** The chunk name in messages of the interpreter. */
    static final String CHUNK = "@user_script";
    private static final int FIXED_BYTES = 512;

    /** @throws ScriptException if the source has an invalid header or does not compile */
    static Script compile(String sha1, byte[] source, Function<String, @Nullable CommandSpec> commands)
            throws ScriptException {
        ScriptHeader header = ScriptHeader.of(source);
        byte[] body = source;
        if (header.bodyStart() > 0) {
            body = java.util.Arrays.copyOfRange(source, header.bodyStart(), source.length);
        }
        FunctionBody syntax;
        LuaProgram program;
        try {
            syntax = Parser.parse(body, CHUNK);
            program = LuaCompiler.compile(syntax, CHUNK);
        } catch (LuaError invalid) {
            throw new ScriptException("ERR Error compiling script (new function): " + invalid.getMessage());
        }
        return new Script(sha1, program, header.flags(), KeyUse.isDeclared(syntax, commands),
                (int) Math.min(Integer.MAX_VALUE, FIXED_BYTES + program.sizeBytes()));
    }

    /** Whether it has this flag in its header. */
    public boolean has(ScriptFlag flag) {
        return flags != null && flags.contains(flag);
    }

    /** Whether it calls no command that writes, by its own declaration. */
    public boolean isReadOnly() {
        return has(ScriptFlag.NO_WRITES);
    }
}
