package io.varve.server.script;

import java.util.List;

import io.varve.lua.interpreter.LuaProgram;

/** A compiled library, shared by all event loops. Immutable; two libraries are the same only if they are one object. */
public final class FunctionLibrary {
    /** The engine of all libraries, as FUNCTION LIST and STATS name it. */
    public static final String ENGINE = "LUA";
    /** Heap bytes of a library beside its source and its program, and of a function. */
    private static final int FIXED_BYTES = 512;
    private static final int FUNCTION_BYTES = 256;

    private final String name;
    private final byte[] source;
    private final LuaProgram program;
    private final List<LibraryFunction> functions;

    FunctionLibrary(String name, byte[] source, LuaProgram program, List<LibraryFunction> functions) {
        this.name = name;
        this.source = source;
        this.program = program;
        this.functions = List.copyOf(functions);
        functions.forEach(function -> function.library(this));
    }

    public String name() {
        return name;
    }

    /** The source with its header. Not to be changed. */
    public byte[] source() {
        return source;
    }

    /** The program that registers the functions. */
    public LuaProgram program() {
        return program;
    }

    /** The functions in the order of their registration. */
    public List<LibraryFunction> functions() {
        return functions;
    }

    /** Approximate heap size, bytes. */
    long heapBytes() {
        long bytes = FIXED_BYTES + source.length + program.sizeBytes();
        for (LibraryFunction function : functions) {
            byte[] description = function.description();
            bytes += FUNCTION_BYTES + (description == null ? 0 : description.length);
        }
        return bytes;
    }
}
