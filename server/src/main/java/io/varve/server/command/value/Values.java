package io.varve.server.command.value;

import io.varve.memory.item.Item;
import io.varve.memory.item.ValueRun;
import io.varve.server.command.Invocation;

/** How a string value is replied. Immutable: static methods only. */
public final class Values {
    /** Shorter values are copied into the reply at once, whether they live in a run or not. */
    private static final int COPIED_BYTES = 16 << 10;

    private Values() {}

    /** Replies an item's value: a large one goes out of its run without a copy. */
    public static void reply(Invocation call, Item item) {
        reply(call, item, item.valueAddress(), item.valueLength());
    }

    /** Replies a part of an item's value, from the address on. */
    public static void reply(Invocation call, Item item, long address, int length) {
        if (length > COPIED_BYTES) {
            ValueRun run = call.session().runOf(item);
            if (run != null) {
                call.reply().bigBulk(run, address, length);
                return;
            }
        }
        call.reply().bulk(address, length);
    }
}
