package io.varve.server.command.key;

import io.varve.flash.tier.FlashTier;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;
import io.varve.server.resp.ReplyWriter;

/**
 * Keys that are too long for flash, and so for being copied to the heap: they are replied from memory, where alone they can be. Confined to
 * its event loop.
 */
final class LongKeys {
    private final CacheSession session;
    private final int database;
    private final Key key = new Key();

    /** @param session the event loop's */
    LongKeys(CacheSession session, int database) {
        this.session = session;
        this.database = database;
    }

    /** Whether a key of so many bytes is one of them. */
    static boolean isLong(int length) {
        return length > FlashTier.MOST_KEY_BYTES;
    }

    /**
     * Replies those that are wanted in a part of the order.
     *
     * @param most no more than so many
     * @return how many there were
     */
    int reply(ScanPart part, TwoTierScan.Filter filter, int most, ReplyWriter reply) {
        int[] count = {0};
        part.visitMemory(session, database, key, () -> count[0] >= most, item -> {
            if (count[0] < most && isLong(item.keyLength())
                    && filter.wants(item.keyAddress(), item.keyLength(), item.type().code())) {
                reply.bulk(item.keyAddress(), item.keyLength());
                count[0]++;
            }
        });
        return count[0];
    }

    /** Replies any key in memory. @return false if there is none */
    boolean replyAny(ReplyWriter reply) {
        return session.random(database, item -> reply.bulk(item.keyAddress(), item.keyLength()));
    }
}
