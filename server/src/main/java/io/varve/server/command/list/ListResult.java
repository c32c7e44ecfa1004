package io.varve.server.command.list;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.ListTree;
import io.varve.memory.collection.PackedList;
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

/** The list that SORT or RESTORE puts under a key. Confined to its event loop; reused from command to command. */
public final class ListResult {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;

    private final WorkMemory memory = new WorkMemory();
    private final Item item = new Item();
    private final ListTree tree = new ListTree();

    /**
     * Puts what is noted under the key, in its order and whatever the key held; if there is nothing the key is deleted.
     *
     * @param event what is told of it
     * @throws CacheFullException if there is no room; the key is then as it was
     */
    public void store(Invocation call, Key key, MemberList elements, KeyEvent event) {
        if (elements.count() > 0) {
            store(call, key, elements, Item.NEVER);
            call.events().tell(event, key);
            call.countChanges(elements.count());
        } else if (call.session().delete(key)) {
            call.events().tell(KeyEvent.DEL, key);
            call.countChanges(1);
        }
    }

    /**
     * Puts it under a key that may expire, and tells nobody; there is one element at least.
     *
     * @param expireAtMillis as in {@link CacheSession#put}
     */
    public void store(Invocation call, Key key, MemberList elements, long expireAtMillis) {
        CacheSession session = call.session();
        long bytes = PackedList.EMPTY_BYTES;
        for (int i = 0; i < elements.count(); i++) {
            bytes += PackedList.entryBytes(elements.length(i));
        }
        if (call.server().config().staysPacked(elements.count(), bytes)) {
            storePacked(call, key, elements, bytes, expireAtMillis);
        } else {
            // What is under the key stays where it is until the tree is complete.
            session.makeTree(key, item, tree, expireAtMillis, () -> {
                for (int i = 0; i < elements.count(); i++) {
                    tree.addLast(elements.address(i), elements.length(i));
                }
            });
            session.changed(key, Change.SET);
        }
    }

    /** The elements may lie under the key, so that they are put together elsewhere first. */
    private void storePacked(Invocation call, Key key, MemberList elements, long bytes, long expireAtMillis) {
        if (bytes > MAX_BYTES) {
            throw CacheFullException.TOO_LARGE;
        }
        try {
            memory.require(call.cache(), bytes);
            long list = memory.address();
            PackedList.clear(list);
            int at = PackedList.EMPTY_BYTES;
            PackedList.open(list, at, at, (int) bytes - at, elements.count());
            for (int i = 0; i < elements.count(); i++) {
                at = PackedList.write(list, at, elements.address(i), elements.length(i));
            }
            call.session().set(key, ItemType.LIST, Encodings.LIST_PACKED, list, at, expireAtMillis);
        } finally {
            memory.release();
        }
    }
}
