package io.varve.server.command.list;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.ListTree;
import io.varve.memory.collection.packed.PackedList;
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

/** Stores a list as the result of SORT or RESTORE. Confined to its event loop; reused from command to command. */
public final class ListResult {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;

    private final WorkMemory memory = new WorkMemory();
    private final Item item = new Item();
    private final ListTree tree = new ListTree();

    /**
     * Stores the elements under the key, in their order, and replaces any old value; without elements deletes the key.
     *
     * @param event the event to publish
     * @throws CacheFullException if memory is full; the key is then unchanged
     */
    public void store(CommandContext context, Key key, MemberList elements, KeyEvent event) {
        if (elements.count() > 0) {
            store(context, key, elements, Item.NEVER);
            context.events().emit(event, key);
            context.countChanges(elements.count());
        } else if (context.session().delete(key)) {
            context.events().emit(KeyEvent.DEL, key);
            context.countChanges(1);
        }
    }

    /**
     * Stores at least one element under a key that may expire, without publishing an event.
     *
     * @param expireAtMillis as in {@link CacheSession#put}
     */
    public void store(CommandContext context, Key key, MemberList elements, long expireAtMillis) {
        CacheSession session = context.session();
        long bytes = PackedList.EMPTY_BYTES;
        for (int i = 0; i < elements.count(); i++) {
            bytes += PackedList.entryBytes(elements.length(i));
        }
        if (context.server().config().staysPacked(elements.count(), bytes)) {
            storePacked(context, key, elements, bytes, expireAtMillis);
        } else {
            // The old value of the key does not move until the tree is complete.
            session.makeTree(key, item, tree, expireAtMillis, () -> {
                for (int i = 0; i < elements.count(); i++) {
                    tree.addLast(elements.address(i), elements.length(i));
                }
            });
            session.changed(key, Change.SET);
        }
    }

    /** The elements may be part of the key's old value, so the list is assembled in work memory first. */
    private void storePacked(CommandContext context, Key key, MemberList elements, long bytes, long expireAtMillis) {
        if (bytes > MAX_BYTES) {
            throw CacheFullException.TOO_LARGE;
        }
        try {
            memory.require(context.cache(), bytes);
            long list = memory.address();
            PackedList.clear(list);
            int at = PackedList.EMPTY_BYTES;
            PackedList.open(list, at, at, (int) bytes - at, elements.count());
            for (int i = 0; i < elements.count(); i++) {
                at = PackedList.write(list, at, elements.address(i), elements.length(i));
            }
            context.session().set(key, ItemType.LIST, Encodings.LIST_PACKED, list, at, expireAtMillis);
        } finally {
            memory.release();
        }
    }
}
