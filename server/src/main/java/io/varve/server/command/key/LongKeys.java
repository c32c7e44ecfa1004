package io.varve.server.command.key;

import io.varve.flash.tier.FlashTier;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;
import io.varve.server.resp.ReplyWriter;

/**
 * Replies keys that are too long for flash, and so for a copy on the heap. Confined to its event loop. Such keys can
 * only be in memory, and are replied from there.
 */
final class LongKeys {
    private final CacheSession session;
    private final int database;
    private final Key key = new Key();

    /** @param session the event loop's session */
    LongKeys(CacheSession session, int database) {
        this.session = session;
        this.database = database;
    }

    /** Whether a key of this length is too long for flash. */
    static boolean isLong(int length) {
        return length > FlashTier.MAX_KEY_BYTES;
    }

    /**
     * Replies the matching long keys in a part of the scan order.
     *
     * @param max maximum number of keys
     * @return number of replied keys
     */
    int reply(ScanPart part, TwoTierScan.Filter filter, int max, ReplyWriter reply) {
        int[] count = {0};
        part.visitMemory(session, database, key, () -> count[0] >= max, item -> {
            if (count[0] < max && isLong(item.keyLength())
                    && filter.matches(item.keyAddress(), item.keyLength(), item.type().code())) {
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
