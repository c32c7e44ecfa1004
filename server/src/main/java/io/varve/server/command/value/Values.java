package io.varve.server.command.value;

import io.varve.memory.item.Item;
import io.varve.memory.item.ValueRun;
import io.varve.server.command.CommandContext;

/** Replies string values. Immutable: static methods only. */
public final class Values {
    /** Values up to this size are copied into the reply, whether they are in a run or not. */
    private static final int COPIED_BYTES = 16 << 10;

    private Values() {}

    /** Replies an item's value; a large one is sent from its run without a copy. */
    public static void reply(CommandContext context, Item item) {
        reply(context, item, item.valueAddress(), item.valueLength());
    }

    /** Replies a part of an item's value, from the address on. */
    public static void reply(CommandContext context, Item item, long address, int length) {
        if (length > COPIED_BYTES) {
            ValueRun run = context.session().runOf(item);
            if (run != null) {
                context.reply().bigBulk(run, address, length);
                return;
            }
        }
        context.reply().bulk(address, length);
    }
}
