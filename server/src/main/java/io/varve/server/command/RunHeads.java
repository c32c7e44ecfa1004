package io.varve.server.command;

import java.util.Arrays;

import io.varve.memory.offheap.Memory;
import io.varve.server.admin.SlowLog;
import org.jspecify.annotations.Nullable;

/**
 * The first bytes of arguments whose runs were taken out of a batch: whoever has taken one may let go of it while the slow log still
 * looks at what was asked for. Confined to its batch; reused, so that it allocates only while it grows.
 */
final class RunHeads {
    /** Of an argument so much is kept. */
    static final int BYTES = SlowLog.MAX_ARGUMENT_BYTES;
    private static final int INITIAL = 4;
    /** What a command with many large arguments made grow beyond this is given back after it. */
    private static final int MOST_KEPT = 64;

    private int[] arguments = new int[INITIAL];
    private int[] lengths = new int[INITIAL];
    private byte[] bytes = new byte[INITIAL * BYTES];
    private int count;

    /** @param argument number in the batch of one whose bytes are still there */
    void keep(int argument, long address, int length) {
        if (count == arguments.length) {
            size(2 * count);
        }
        arguments[count] = argument;
        lengths[count] = Math.min(length, BYTES);
        Memory.copy(address, bytes, count * BYTES, lengths[count]);
        count++;
    }

    /** The first bytes of an argument, {@code most} of them if so many were kept; null if its run was not taken. */
    byte @Nullable [] of(int argument, int most) {
        for (int i = 0; i < count; i++) {
            if (arguments[i] == argument) {
                return Arrays.copyOfRange(bytes, i * BYTES, i * BYTES + Math.min(most, lengths[i]));
            }
        }
        return null;
    }

    void clear() {
        count = 0;
        if (arguments.length > MOST_KEPT) {
            size(INITIAL);
        }
    }

    private void size(int size) {
        arguments = Arrays.copyOf(arguments, size);
        lengths = Arrays.copyOf(lengths, size);
        bytes = Arrays.copyOf(bytes, size * BYTES);
    }
}
