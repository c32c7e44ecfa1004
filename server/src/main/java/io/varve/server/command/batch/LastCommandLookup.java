package io.varve.server.command.batch;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.spec.CommandLookup;
import io.varve.server.command.spec.CommandSpec;
import org.jspecify.annotations.Nullable;

/**
 * Finds commands by their names, and remembers the last one, because a command often has the name of the one before it.
 * Confined to one thread.
 */
public final class LastCommandLookup {
    private final CommandLookup table;
    private long lastName;
    private int lastLength;
    private @Nullable CommandSpec lastFound;

    public LastCommandLookup(CommandLookup table) {
        this.table = table;
    }

    /** The command of this name in any case, or null. */
    public @Nullable CommandSpec find(long address, int length) {
        long name = length > Long.BYTES || length < Integer.BYTES - 1 ? 0 : nameOf(address, length);
        if (name != 0 && name == lastName && length == lastLength) {
            return lastFound;
        }
        lastName = name;
        lastLength = length;
        lastFound = table.find(address, length);
        return lastFound;
    }

    /** All bytes of a name of 3 to 8 bytes. */
    private static long nameOf(long address, int length) {
        return length == 3
                ? (Memory.getShort(address) & 0xFFFF) << Byte.SIZE | Memory.getByte(address + 2) & 0xFF
                : (long) Memory.getInt(address) << Integer.SIZE
                        | Memory.getInt(address + length - Integer.BYTES) & 0xFFFF_FFFFL;
    }
}
