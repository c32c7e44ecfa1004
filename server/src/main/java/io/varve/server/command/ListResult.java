package io.varve.server.command;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.ListTree;
import io.varve.memory.collection.PackedList;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.events.KeyEvent;

/** The list that SORT puts under a key. Confined to its event loop; reused from command to command. */
final class ListResult {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;

    private final WorkMemory memory = new WorkMemory();
    private final Item item = new Item();
    private final ListTree tree = new ListTree();

    /**
     * Puts what is noted under the key, in its order and whatever the key held; if there is nothing the key is deleted.
     *
     * @throws CacheFullException if there is no room; the key is then as it was
     */
    void store(Invocation call, Key key, MemberList elements) {
        CacheSession session = call.session();
        if (elements.count() == 0) {
            if (session.delete(key)) {
                call.events().tell(KeyEvent.DEL, key);
            }
            return;
        }
        long bytes = PackedList.EMPTY_BYTES;
        for (int i = 0; i < elements.count(); i++) {
            bytes += PackedList.entryBytes(elements.length(i));
        }
        if (call.server().config().staysPacked(elements.count(), bytes)) {
            storePacked(call, key, elements, bytes);
        } else {
            // What is under the key stays where it is until the tree is complete.
            session.makeTree(key, item, tree, Item.NEVER, () -> {
                for (int i = 0; i < elements.count(); i++) {
                    tree.addLast(elements.address(i), elements.length(i));
                }
            });
            session.changed(key, Change.SET);
        }
        call.events().tell(KeyEvent.SORTSTORE, key);
    }

    /** The elements may lie under the key, so that they are put together elsewhere first. */
    private void storePacked(Invocation call, Key key, MemberList elements, long bytes) {
        if (bytes > MAX_BYTES) {
            throw CacheFullException.INSTANCE;
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
            call.session().set(key, ItemType.LIST, Encodings.LIST_PACKED, list, at, Item.NEVER);
        } finally {
            memory.release();
        }
    }
}
