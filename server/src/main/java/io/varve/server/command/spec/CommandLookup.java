package io.varve.server.command.spec;

import org.jspecify.annotations.Nullable;

/** Finds commands by the bytes of their names. Implementations are immutable. */
@FunctionalInterface
public interface CommandLookup {
    /** The command of this name in any case, or null. */
    @Nullable
    CommandSpec find(long address, int length);
}
