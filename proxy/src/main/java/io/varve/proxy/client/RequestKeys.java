package io.varve.proxy.client;

import java.util.Arrays;

import io.varve.cluster.map.HashSlot;
import io.varve.memory.offheap.Memory;
import io.varve.proxy.merge.WriteStamps;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.KeyFinder;

/** The keys of a request and their slots. Confined to an event loop, and reused. */
final class RequestKeys {
    /** The request has no key. */
    static final int NO_SLOT = -1;
    /** Its keys are in several slots. */
    static final int SEVERAL_SLOTS = -2;

    private static final int INITIAL_KEYS = 8;

    private int[] indexes = new int[INITIAL_KEYS];
    private int count;

    /** Finds the keys of a request. */
    void find(CommandSpec spec, Request request) {
        count = 0;
        KeyFinder finder = spec.keyFinder();
        if (finder != null) {
            finder.find(request, this::add);
            return;
        }
        int arguments = request.argumentCount();
        int last = spec.lastKey() < 0 ? arguments + spec.lastKey() : spec.lastKey();
        for (int i = spec.firstKey(); i > 0 && i <= last && i < arguments; i += spec.keyStep()) {
            add(i);
        }
    }

    private void add(int index) {
        if (count == indexes.length) {
            indexes = Arrays.copyOf(indexes, 2 * count);
        }
        indexes[count++] = index;
    }

    int count() {
        return count;
    }

    /** The number of the argument that is the key. */
    int argument(int key) {
        return indexes[key];
    }

    /** The slot of all keys, or one of the constants. */
    int slot(Request request) {
        if (count == 0) {
            return NO_SLOT;
        }
        int slot = slot(request, indexes[0]);
        for (int i = 1; i < count; i++) {
            if (slot(request, indexes[i]) != slot) {
                return SEVERAL_SLOTS;
            }
        }
        return slot;
    }

    /** The slot of an argument. */
    static int slot(Request request, int argument) {
        long address = request.argumentAddress(argument);
        int length = request.argumentLength(argument);
        long from = address;
        long to = address + length;
        long open = find(from, to, '{');
        if (open < to) {
            long close = find(open + 1, to, '}');
            if (close < to && close > open + 1) {
                from = open + 1;
                to = close;
            }
        }
        int crc = 0;
        for (long at = from; at < to; at++) {
            crc = HashSlot.crc16(crc, Memory.getByte(at));
        }
        return HashSlot.of(crc);
    }

    private static long find(long from, long to, char wanted) {
        long at = from;
        while (at < to && Memory.getByte(at) != wanted) {
            at++;
        }
        return at;
    }

    /** The stripes of the keys, in {@link WriteStamps}. */
    int[] stripes(Request request) {
        int[] stripes = new int[count];
        for (int i = 0; i < count; i++) {
            stripes[i] = WriteStamps.stripe(request.argumentAddress(indexes[i]), request.argumentLength(indexes[i]));
        }
        return stripes;
    }
}
