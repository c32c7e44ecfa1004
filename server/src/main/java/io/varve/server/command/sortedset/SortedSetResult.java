package io.varve.server.command.sortedset;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.SortedSetTree;
import io.varve.memory.collection.packed.PackedSortedSet;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.MemberList;
import io.varve.server.command.value.WorkMemory;
import io.varve.server.events.KeyEvent;

/**
 * Stores a sorted set as the result of ZUNIONSTORE and its relatives. Confined to its event loop; reused from command
 * to command.
 */
public final class SortedSetResult {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;

    private final WorkMemory memory = new WorkMemory();
    private final Item item = new Item();
    private final SortedSetTree tree = new SortedSetTree();

    /**
     * Whether each stored member counts as a change. As in Redis, geo results count per member, other results as a
     * whole.
     */
    private static boolean isCountedByMember(KeyEvent event) {
        return event == KeyEvent.GEORADIUSSTORE || event == KeyEvent.GEOSEARCHSTORE;
    }

    /**
     * Stores the members of a sorted list under the key and replaces any old value; without members deletes the key.
     *
     * @param event the event to publish
     * @throws CacheFullException if memory is full; the key is then unchanged
     */
    public void store(CommandContext context, Key key, MemberList members, KeyEvent event) {
        if (members.count() > 0) {
            store(context, key, members, Item.NEVER);
            context.events().emit(event, key);
            context.countChanges(isCountedByMember(event) ? members.count() : 1);
        } else if (context.session().delete(key)) {
            context.events().emit(KeyEvent.DEL, key);
            context.countChanges(1);
        }
    }

    /**
     * Stores at least one member under a key that may expire, without publishing an event.
     *
     * @param expireAtMillis as in {@link CacheSession#put}
     */
    public void store(CommandContext context, Key key, MemberList members, long expireAtMillis) {
        CacheSession session = context.session();
        long bytes = bytes(members);
        if (!context.server().config().staysPacked(members.count(), bytes)) {
            makeTree(context, key, members, expireAtMillis);
            return;
        }
        // The members may be part of the key's old value, so the set is assembled in work memory first.
        try {
            int length = write(context, members, bytes);
            session.set(key, ItemType.SORTED_SET, encoding(context, members), memory.address(), length,
                    expireAtMillis);
        } finally {
            memory.release();
        }
    }

    private static int encoding(CommandContext context, MemberList members) {
        return members.count() > context.server().config().zsetMaxListpackEntries()
                || members.longest() > context.server().config().zsetMaxListpackValueBytes()
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

    /** The old value of the key does not move until the tree is complete. */
    private void makeTree(CommandContext context, Key key, MemberList members, long expireAtMillis) {
        int encoding = encoding(context, members);
        context.session().makeTree(key, item, tree, expireAtMillis, () -> {
            for (int place = 0; place < members.count(); place++) {
                int number = members.inOrder(place);
                tree.put(members.address(number), members.length(number), stored(encoding, members.score(number)));
            }
            tree.flags(encoding);
        });
        context.session().changed(key, Change.SET);
    }

    /** A Redis listpack stores whole numbers as integers, so zero has no sign. */
    private static double stored(int encoding, double score) {
        return encoding == Encodings.SORTED_SET_LISTPACK ? score + 0.0 : score;
    }

    private int write(CommandContext context, MemberList members, long bytes) {
        if (bytes > MAX_BYTES) {
            throw CacheFullException.TOO_LARGE;
        }
        memory.require(context.cache(), bytes);
        int encoding = encoding(context, members);
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
