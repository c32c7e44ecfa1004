package io.varve.server.command.list;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.ListTree;
import io.varve.memory.collection.packed.PackedList;
import io.varve.memory.collection.tree.TreeFiller;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;

/**
 * A list value, packed or a tree: the elements under one key, a cursor over them, and changes. Confined to its event
 * loop; reused from command to command, so it allocates nothing.
 *
 * <p>It is opened for a key whose shard is locked, and valid until the command ends. The cursor is at an element after
 * {@link #seek}, and after {@link #next} or {@link #previous} returned true; a change invalidates it. An insertion
 * reserves memory first and fails with a {@link io.varve.memory.item.CacheFullException} before any change. A removal
 * cannot fail once {@link #prepare} has returned. Removing the last element deletes the key.
 *
 * <p>A packed list that would exceed {@code packed-max-entries} or {@code packed-max-bytes} becomes a tree for good. A
 * single element stays packed, however long it is, so it can be sent from its run without a copy.
 */
public final class ListValue {
    private final CommandContext context;
    private final Item item = new Item();
    private final PackedListEdit packed;
    private final ListTree tree = new ListTree();
    private Key key = new Key();
    private boolean present;
    private boolean isTree;

    /**
     * The writes to a tree, and their arguments. A tree under construction gets the packed elements first, then the
     * write.
     */
    private final Runnable pushArguments = this::pushArgumentsToTree;
    private final Runnable push = this::pushToTree;
    private final Runnable insert = this::insertIntoTree;
    private final Runnable replace = this::replaceInTree;
    private final TreeFiller fill = this::fillTree;
    private Runnable write = push;
    /** Whether to add at the beginning, or in front of the cursor. */
    private boolean toFirst;
    private int argument;
    private long address;
    private int elementLength;

    ListValue(CommandContext context) {
        this.context = context;
        packed = new PackedListEdit(context, item);
    }

    // --- open

    /** Opens a key for reading; replies the error if it has another type. */
    public Found find(Key at) {
        Found found = KeyLookup.find(context, at, item, ItemType.LIST);
        open(at, found == Found.PRESENT);
        return found;
    }

    /** Opens a key for writing; replies the error if it has another type. */
    Found findForWriting(Key at) {
        Found found = KeyLookup.findForWriting(context, at, item, ItemType.LIST);
        open(at, found == Found.PRESENT);
        return found;
    }

    /** Opens a key for writing without a reply. */
    Found lookUp(Key at) {
        boolean there = context.session().findForWriting(at, item);
        boolean list = there && item.type() == ItemType.LIST;
        open(at, list);
        return list ? Found.PRESENT : there ? Found.WRONG_TYPE : Found.MISSING;
    }

    private void open(Key at, boolean there) {
        key = at;
        present = there;
        isTree = there && item.isTree();
        if (isTree) {
            context.session().open(at, item, tree);
        } else {
            packed.open(at, there);
        }
    }

    /** Number of elements; 0 if the list does not exist. */
    public long length() {
        return !present ? 0 : isTree ? tree.size() : packed.length();
    }

    // --- the cursor

    /** Moves the cursor to an element, numbered from 0 to {@link #length} - 1. */
    public void seek(long number) {
        if (isTree) {
            boolean there = tree.seek(number);
            assert there : number + " of " + tree.size();
        } else {
            packed.seek((int) number);
        }
    }

    /** Moves the cursor to the first element or the last. */
    void seekEnd(boolean first) {
        seek(first ? 0 : length() - 1);
    }

    /** Moves the cursor to the next element; false if there is none. */
    public boolean next() {
        return isTree ? tree.next() : packed.next();
    }

    /** Moves the cursor to the previous element; false if there is none. */
    public boolean previous() {
        return isTree ? tree.previous() : packed.previous();
    }

    /** The number of the cursor's element. */
    long index() {
        return isTree ? tree.rank() : packed.index();
    }

    /** Address of the current element. */
    public long elementAddress() {
        return isTree ? tree.address() : packed.elementAddress();
    }

    /** Length of the current element, bytes. */
    public int elementLength() {
        return isTree ? tree.length() : packed.elementLength();
    }

    /** Whether the cursor's element has these bytes. */
    boolean isAt(long bytes, int length) {
        return isTree
                ? tree.length() == length && Memory.equal(tree.address(), bytes, length)
                : packed.isAt(bytes, length);
    }

    /** Replies the cursor's element. */
    void reply() {
        if (isTree) {
            context.reply().bulk(tree.address(), tree.length());
        } else {
            packed.reply();
        }
    }

    /** Replies the cursor's element, which is about to be removed. */
    void replyTaken() {
        if (isTree) {
            reply();
        } else {
            packed.replyTaken();
        }
    }

    // --- add and change elements

    /**
     * Makes an existing list writable in place. Call it before any change: the memory may be shared with a reply in
     * flight, and the list then moves away from it.
     */
    void prepare() {
        if (!isTree) {
            packed.prepare();
        }
    }

    /** Adds the arguments from number {@code from} on, one after the other, at the beginning or at the end. */
    void pushArguments(boolean first, int from) {
        long bytes = 0;
        int end = context.argumentCount();
        for (int i = from; i < end; i++) {
            bytes += PackedList.entryBytes(context.argumentLength(i));
        }
        if (staysPacked(end - from, bytes)) {
            packed.pushArguments(first, from, bytes);
        } else {
            toFirst = first;
            argument = from;
            writeToTree(pushArguments, end - from > 1);
        }
        written();
    }

    private void pushArgumentsToTree() {
        for (int i = argument; i < context.argumentCount(); i++) {
            pushToTree(context.argumentAddress(i), context.argumentLength(i));
        }
    }

    /** Adds an element, which is not stored in this list, at the beginning or at the end. */
    void push(boolean first, long bytes, int length) {
        if (staysPacked(1, PackedList.entryBytes(length))) {
            packed.push(first, bytes, length);
        } else {
            writeToTree(push, first, bytes, length);
        }
        written();
    }

    private void pushToTree() {
        pushToTree(address, elementLength);
    }

    private void pushToTree(long bytes, int length) {
        if (toFirst) {
            tree.addFirst(bytes, length);
        } else {
            tree.addLast(bytes, length);
        }
    }

    /** Adds an element, which is not stored in this list, before or after the cursor's. */
    void insert(boolean before, long bytes, int length) {
        if (staysPacked(1, PackedList.entryBytes(length))) {
            packed.insert(before, bytes, length);
        } else {
            writeToTree(insert, before, bytes, length);
        }
        written();
    }

    private void insertIntoTree() {
        if (!toFirst) {
            // From the last element, this moves to the end position.
            tree.next();
        }
        tree.insert(address, elementLength);
    }

    /** Replaces the cursor's element by one that is not stored in this list. */
    void replace(long bytes, int length) {
        if (!isTree && (packed.moreBytes(length) <= 0 || staysPacked(0, packed.moreBytes(length)))) {
            packed.replace(bytes, length);
        } else {
            writeToTree(replace, false, bytes, length);
        }
        written();
    }

    private void replaceInTree() {
        tree.replace(address, elementLength);
    }

    /** Whether it is packed, and may stay so with this growth. */
    private boolean staysPacked(int moreElements, long moreBytes) {
        return !isTree
                && context.server().config().staysPacked(length() + moreElements, packed.bytes() + moreBytes);
    }

    private void writeToTree(Runnable how, boolean first, long bytes, int length) {
        toFirst = first;
        address = bytes;
        elementLength = length;
        writeToTree(how, false);
    }

    private void writeToTree(Runnable how, boolean isSeveral) {
        if (!isTree) {
            write = how;
            context.session().makeTree(key, item, tree, CacheSession.KEEP, fill);
            isTree = true;
        } else if (isSeveral) {
            tree.atomically(how);
        } else {
            how.run();
        }
    }

    private void fillTree() {
        if (present) {
            packed.copyTo(tree);
            // The cursor keeps its position.
            tree.seek(packed.index());
        }
        write.run();
    }

    /** Counts as a change, but changes nothing. */
    void touch() {
        written();
    }

    private void written() {
        present = true;
        context.session().changed(key, Change.SET);
    }

    // --- remove elements

    /** Removes the elements from number {@code from}, inclusive, to {@code to}, exclusive. */
    void remove(long from, long to) {
        if (from == 0 && to == length()) {
            clear();
            return;
        }
        if (isTree && to - from == 1) {
            // The cursor is usually there, because the element has been replied.
            if (!tree.isAtElement() || tree.rank() != from) {
                tree.seek(from);
            }
            tree.remove();
        } else if (isTree) {
            tree.removeRange(from, to);
        } else {
            packed.remove((int) from, (int) to);
        }
        written();
    }

    /** Removes elements from the beginning, or from the end. */
    void removeEnd(boolean first, long count) {
        long length = length();
        if (first) {
            remove(0, count);
        } else {
            remove(length - count, length);
        }
    }

    /**
     * Removes elements that have these bytes.
     *
     * @param count maximum number, from the first on; negative: from the last on; 0: all
     * @return number of removed elements
     */
    long removeEqual(long bytes, int length, long count) {
        long before = length();
        long removed = isTree ? removeEqualFromTree(bytes, length, count) : packed.removeEqual(bytes, length, count);
        if (removed == before) {
            clear();
        } else if (removed > 0) {
            written();
        }
        return removed;
    }

    private long removeEqualFromTree(long bytes, int length, long count) {
        boolean backwards = count < 0;
        // The smallest long has no positive counterpart: it means all of them.
        long max = count == 0 || count == Long.MIN_VALUE ? Long.MAX_VALUE : Math.abs(count);
        long removed = 0;
        boolean more = backwards ? tree.last() : tree.first();
        while (more && removed < max) {
            boolean hit = isAt(bytes, length);
            if (hit) {
                tree.remove();
                removed++;
            }
            more = backwards ? tree.previous() : hit ? tree.isAtElement() : tree.next();
        }
        return removed;
    }

    /** Moves the first element to the end, or the last one to the beginning. */
    void rotate(boolean firstToLast) {
        if (!isTree) {
            packed.rotate(firstToLast);
        } else if (firstToLast) {
            tree.firstToLast();
        } else {
            tree.lastToFirst();
        }
        written();
    }

    private void clear() {
        boolean deleted = context.session().delete(key);
        assert deleted;
        present = false;
        isTree = false;
    }
}
