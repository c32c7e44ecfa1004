package io.varve.server.script;

import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * A function that FCALL can run. Immutable; two functions are the same only if they are one object.
 *
 * <p>The values that the code of the library captures belong to one interpreter. Each event loop runs the code of the
 * library itself, when a function of it is called there first: variables that functions change have a value of their
 * own in each event loop.
 */
public final class LibraryFunction {
    private final String name;
    private final byte @Nullable [] description;
    private final Set<ScriptFlag> flags;
    /** Set before the library is published. */
    private @Nullable FunctionLibrary library;

    LibraryFunction(String name, byte @Nullable [] description, Set<ScriptFlag> flags) {
        this.name = name;
        this.description = description;
        this.flags = flags;
    }

    void library(FunctionLibrary owner) {
        library = owner;
    }

    /** The name, as the library gives it. */
    public String name() {
        return name;
    }

    /** The description; null if it has none. Not to be changed. */
    public byte @Nullable [] description() {
        return description;
    }

    /** The flags, in Redis's order. */
    public Set<ScriptFlag> flags() {
        return flags;
    }

    /** The library that it belongs to. */
    public FunctionLibrary library() {
        return java.util.Objects.requireNonNull(library);
    }
}
