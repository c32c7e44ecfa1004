package io.varve.server.command.batch;

import java.util.Arrays;

import io.varve.memory.offheap.Memory;
import io.varve.server.admin.latency.SlowLog;
import org.jspecify.annotations.Nullable;

/**
 * The first bytes of arguments whose runs a command has taken out of its batch. Confined to its batch; reused, so it
 * allocates only while it grows. The slow log needs these bytes because the taker may release a run before the log
 * reads the arguments.
 */
final class ArgumentPreviews {
    /** Maximum bytes kept of an argument. */
    static final int BYTES = SlowLog.MAX_ARGUMENT_BYTES;
    private static final int INITIAL = 4;
    /** Maximum number of entries kept after a command; larger tables are freed. */
    private static final int MAX_PREVIEWS = 64;

    private int[] arguments = new int[INITIAL];
    private int[] lengths = new int[INITIAL];
    private byte[] bytes = new byte[INITIAL * BYTES];
    private int count;

    /** @param argument number, in the batch, of an argument whose bytes are still valid */
    void keep(int argument, long address, int length) {
        if (count == arguments.length) {
            size(2 * count);
        }
        arguments[count] = argument;
        lengths[count] = Math.min(length, BYTES);
        Memory.copy(address, bytes, count * BYTES, lengths[count]);
        count++;
    }

    /** The first {@code max} bytes of an argument, or fewer if fewer were kept; null if its run was not taken. */
    byte @Nullable [] of(int argument, int max) {
        for (int i = 0; i < count; i++) {
            if (arguments[i] == argument) {
                return Arrays.copyOfRange(bytes, i * BYTES, i * BYTES + Math.min(max, lengths[i]));
            }
        }
        return null;
    }

    void clear() {
        count = 0;
        if (arguments.length > MAX_PREVIEWS) {
            size(INITIAL);
        }
    }

    private void size(int size) {
        arguments = Arrays.copyOf(arguments, size);
        lengths = Arrays.copyOf(lengths, size);
        bytes = Arrays.copyOf(bytes, size * BYTES);
    }
}
