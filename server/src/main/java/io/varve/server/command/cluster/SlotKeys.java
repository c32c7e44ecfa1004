package io.varve.server.command.cluster;

import io.varve.memory.CacheSession;
import io.varve.server.command.CommandContext;
import io.varve.server.resp.ReplyWriter;

/**
 * The keys of a hash slot, which are all in one shard. Immutable: static methods only.
 *
 * <p>A scan of the shard counts them: tools count rarely, and a counter for each slot would cost each write (decision
 * 49).
 */
final class SlotKeys {
    private static final int DATABASE = 0;

    private SlotKeys() {}

    static long count(CommandContext context, int slot) {
        long[] count = {0};
        CacheSession session = context.session();
        long cursor = 0;
        do {
            cursor = session.scanSlot(DATABASE, slot, cursor, _ -> count[0]++);
        } while (cursor != 0);
        return count[0];
    }

    /** Replies up to so many keys. */
    static void reply(CommandContext context, int slot, long max) {
        ReplyWriter reply = context.reply();
        CacheSession session = context.session();
        long mark = reply.beginDeferred();
        long[] count = {0};
        long cursor = 0;
        do {
            cursor = session.scanSlot(DATABASE, slot, cursor, item -> {
                if (count[0] < max) {
                    reply.bulk(item.keyAddress(), item.keyLength());
                    count[0]++;
                }
            });
        } while (cursor != 0 && count[0] < max);
        reply.endArray(mark, count[0]);
    }
}
