package io.varve.server.command;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.PackedSortedSet;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;

/**
 * The sorted set that ZUNIONSTORE and its relatives put under a key. Confined to its event loop; reused from command to
 * command.
 */
final class SortedSetResult {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;

    private final WorkMemory memory = new WorkMemory();

    /**
     * Puts the members of a list, which are in the order of a sorted set, under the key, whatever it held; without members
     * the key is deleted.
     *
     * @throws CacheFullException if there is no room; the key is then as it was
     */
    void store(Invocation call, Key key, MemberList members) {
        CacheSession session = call.session();
        if (members.count() == 0) {
            session.delete(key);
            return;
        }
        // The members may lie under the key, so that they are put together elsewhere first.
        try {
            int length = write(call, members);
            session.set(key, ItemType.SORTED_SET, encoding(call, members), memory.address(), length, Item.NEVER);
        } finally {
            memory.release();
        }
    }

    private static int encoding(Invocation call, MemberList members) {
        return members.count() > call.server().config().zsetMaxListpackEntries()
                || members.longest() > call.server().config().zsetMaxListpackValueBytes()
                        ? Encodings.SORTED_SET_SKIPLIST
                        : Encodings.SORTED_SET_LISTPACK;
    }

    private int write(Invocation call, MemberList members) {
        long bytes = PackedSortedSet.EMPTY_BYTES;
        for (int place = 0; place < members.count(); place++) {
            bytes += PackedSortedSet.entryBytes(members.length(members.inOrder(place)));
        }
        if (bytes > MAX_BYTES) {
            throw CacheFullException.INSTANCE;
        }
        memory.require(call.cache(), bytes);
        boolean listpack = encoding(call, members) == Encodings.SORTED_SET_LISTPACK;
        long set = memory.address();
        PackedSortedSet.clear(set);
        int length = PackedSortedSet.EMPTY_BYTES;
        for (int place = 0; place < members.count(); place++) {
            int number = members.inOrder(place);
            double score = members.score(number);
            // A listpack of Redis keeps whole numbers as integers, so that zero has no sign.
            length = PackedSortedSet.append(set, length, listpack ? score + 0.0 : score, members.address(number),
                    members.length(number));
        }
        return length;
    }
}
