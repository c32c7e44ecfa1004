package io.varve.server.command.sortedset;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.PackedSortedSet;
import io.varve.memory.collection.SortedSetTree;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.MemberList;
import io.varve.server.command.value.WorkMemory;
import io.varve.server.events.KeyEvent;

/**
 * The sorted set that ZUNIONSTORE and its relatives put under a key. Confined to its event loop; reused from command to
 * command.
 */
public final class SortedSetResult {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;

    private final WorkMemory memory = new WorkMemory();
    private final Item item = new Item();
    private final SortedSetTree tree = new SortedSetTree();

    /** As in Redis, where places that are stored count one by one, and what ZUNIONSTORE and its relatives store as a whole. */
    private static boolean isCountedByMember(KeyEvent event) {
        return event == KeyEvent.GEORADIUSSTORE || event == KeyEvent.GEOSEARCHSTORE;
    }

    /**
     * Puts the members of a list, which are in the order of a sorted set, under the key, whatever it held; without members
     * the key is deleted.
     *
     * @param event what is told of it
     * @throws CacheFullException if there is no room; the key is then as it was
     */
    public void store(Invocation call, Key key, MemberList members, KeyEvent event) {
        if (members.count() > 0) {
            store(call, key, members, Item.NEVER);
            call.events().tell(event, key);
            call.countChanges(isCountedByMember(event) ? members.count() : 1);
        } else if (call.session().delete(key)) {
            call.events().tell(KeyEvent.DEL, key);
            call.countChanges(1);
        }
    }

    /**
     * Puts them under a key that may expire, and tells nobody; there is one at least.
     *
     * @param expireAtMillis as in {@link CacheSession#put}
     */
    public void store(Invocation call, Key key, MemberList members, long expireAtMillis) {
        CacheSession session = call.session();
        long bytes = bytes(members);
        if (!call.server().config().staysPacked(members.count(), bytes)) {
            makeTree(call, key, members, expireAtMillis);
            return;
        }
        // The members may lie under the key, so that they are put together elsewhere first.
        try {
            int length = write(call, members, bytes);
            session.set(key, ItemType.SORTED_SET, encoding(call, members), memory.address(), length,
                    expireAtMillis);
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

    private static long bytes(MemberList members) {
        long bytes = PackedSortedSet.EMPTY_BYTES;
        for (int place = 0; place < members.count(); place++) {
            bytes += PackedSortedSet.entryBytes(members.length(members.inOrder(place)));
        }
        return bytes;
    }

    /** What is under the key stays where it is until the tree is complete. */
    private void makeTree(Invocation call, Key key, MemberList members, long expireAtMillis) {
        int encoding = encoding(call, members);
        call.session().makeTree(key, item, tree, expireAtMillis, () -> {
            for (int place = 0; place < members.count(); place++) {
                int number = members.inOrder(place);
                tree.put(members.address(number), members.length(number), stored(encoding, members.score(number)));
            }
            tree.flags(encoding);
        });
        call.session().changed(key, Change.SET);
    }

    /** A listpack of Redis keeps whole numbers as integers, so that zero has no sign. */
    private static double stored(int encoding, double score) {
        return encoding == Encodings.SORTED_SET_LISTPACK ? score + 0.0 : score;
    }

    private int write(Invocation call, MemberList members, long bytes) {
        if (bytes > MAX_BYTES) {
            throw CacheFullException.TOO_LARGE;
        }
        memory.require(call.cache(), bytes);
        int encoding = encoding(call, members);
        long set = memory.address();
        PackedSortedSet.clear(set);
        int length = PackedSortedSet.EMPTY_BYTES;
        for (int place = 0; place < members.count(); place++) {
            int number = members.inOrder(place);
            length = PackedSortedSet.append(set, length, stored(encoding, members.score(number)),
                    members.address(number), members.length(number));
        }
        return length;
    }
}
