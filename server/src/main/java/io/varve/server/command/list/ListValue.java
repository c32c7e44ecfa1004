package io.varve.server.command.list;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.ListTree;
import io.varve.memory.collection.PackedList;
import io.varve.memory.collection.TreeFiller;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;

/**
 * A list as commands see it, packed or a tree: elements in a row under one key, a cursor that walks over them, and the ways to change
 * them. Confined to its event loop; reused from command to command, so that it allocates nothing.
 *
 * <p>It is opened for a key whose shard is locked, and good until the command ends. The cursor stands on an element after
 * {@link #seek} and while {@link #next} and {@link #previous} say so; what changes the list ends that. Whatever makes a list longer
 * makes the room first and is refused with a {@link io.varve.memory.item.CacheFullException} before anything is changed; what makes
 * it shorter is never refused once {@link #prepare} has returned. A list that loses its last element goes with its key.
 *
 * <p>A packed list that is to grow beyond {@code packed-max-entries} or {@code packed-max-bytes} becomes a tree, for good; one
 * element alone stays packed, however long it is, and so goes out of its run without a copy.
 */
public final class ListValue {
    private final Invocation call;
    private final Item item = new Item();
    private final PackedListEdit packed;
    private final ListTree tree = new ListTree();
    private Key key = new Key();
    private boolean present;
    private boolean isTree;

    /** The writes to a tree, and what they put: a tree that is being made gets it together with what was packed. */
    private final Runnable pushArguments = this::pushArgumentsToTree;
    private final Runnable push = this::pushToTree;
    private final Runnable insert = this::insertIntoTree;
    private final Runnable replace = this::replaceInTree;
    private final TreeFiller fill = this::fillTree;
    private Runnable write = push;
    /** Whether it goes to the beginning, or in front of the cursor. */
    private boolean toFirst;
    private int argument;
    private long address;
    private int elementLength;

    ListValue(Invocation call) {
        this.call = call;
        packed = new PackedListEdit(call, item);
    }

    // --- open

    /** For a command that answers what is in it; replies the error if the key has another type. */
    public Found find(Key at) {
        Found found = KeyLookup.find(call, at, item, ItemType.LIST);
        open(at, found == Found.PRESENT);
        return found;
    }

    /** The same for a command that changes it. */
    Found findForWriting(Key at) {
        Found found = KeyLookup.findForWriting(call, at, item, ItemType.LIST);
        open(at, found == Found.PRESENT);
        return found;
    }

    /** The same without a reply. */
    Found look(Key at) {
        boolean there = call.session().findForWriting(at, item);
        boolean list = there && item.type() == ItemType.LIST;
        open(at, list);
        return list ? Found.PRESENT : there ? Found.WRONG_TYPE : Found.MISSING;
    }

    private void open(Key at, boolean there) {
        key = at;
        present = there;
        isTree = there && item.isTree();
        if (isTree) {
            call.session().open(at, item, tree);
        } else {
            packed.open(at, there);
        }
    }

    /** How many elements; 0 if it is not there. */
    public long length() {
        return !present ? 0 : isTree ? tree.size() : packed.length();
    }

    // --- the cursor

    /** Goes to the element of a number from 0 to one less than {@link #length}. */
    public void seek(long number) {
        if (isTree) {
            boolean there = tree.seek(number);
            assert there : number + " of " + tree.size();
        } else {
            packed.seek((int) number);
        }
    }

    /** Goes to the first element or the last. */
    void seekEnd(boolean first) {
        seek(first ? 0 : length() - 1);
    }

    /** Goes on to the next element; false if there is none. */
    public boolean next() {
        return isTree ? tree.next() : packed.next();
    }

    /** Goes back to the element in front; false if there is none. */
    public boolean previous() {
        return isTree ? tree.previous() : packed.previous();
    }

    /** The number of the element at the cursor. */
    long index() {
        return isTree ? tree.rank() : packed.index();
    }

    /** Where the bytes of the current element are. */
    public long elementAddress() {
        return isTree ? tree.address() : packed.elementAddress();
    }

    /** Bytes of the current element. */
    public int elementLength() {
        return isTree ? tree.length() : packed.elementLength();
    }

    /** Whether the element at the cursor has these bytes. */
    boolean isAt(long bytes, int length) {
        return isTree
                ? tree.length() == length && Memory.equal(tree.address(), bytes, length)
                : packed.isAt(bytes, length);
    }

    /** Replies the element at the cursor. */
    void reply() {
        if (isTree) {
            call.reply().bulk(tree.address(), tree.length());
        } else {
            packed.reply();
        }
    }

    /** Replies the element at the cursor, which is about to be removed. */
    void replyTaken() {
        if (isTree) {
            reply();
        } else {
            packed.replyTaken();
        }
    }

    // --- growth

    /**
     * Makes a list that is there fit to be changed in place. To be called before anything is: its memory may be shared with a
     * reply in flight, and it then moves away from it.
     */
    void prepare() {
        if (!isTree) {
            packed.prepare();
        }
    }

    /** Adds the arguments from number {@code from} on, one after the other, at the beginning or at the end. */
    void pushArguments(boolean first, int from) {
        long bytes = 0;
        int end = call.argumentCount();
        for (int i = from; i < end; i++) {
            bytes += PackedList.entryBytes(call.argumentLength(i));
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
        for (int i = argument; i < call.argumentCount(); i++) {
            pushToTree(call.argumentAddress(i), call.argumentLength(i));
        }
    }

    /** Adds an element, which does not lie in this list, at the beginning or at the end. */
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

    /** Adds an element, which does not lie in this list, in front of the one at the cursor or behind it. */
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
            // From the last element that is to the end.
            tree.next();
        }
        tree.insert(address, elementLength);
    }

    /** Puts an element, which does not lie in this list, in the place of the one at the cursor. */
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

    /** Whether it is packed, and may be with so many elements and bytes more. */
    private boolean staysPacked(int moreElements, long moreBytes) {
        return !isTree
                && call.server().config().staysPacked(length() + moreElements, packed.bytes() + moreBytes);
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
            call.session().makeTree(key, item, tree, CacheSession.KEEP, fill);
            isTree = true;
        } else if (isSeveral) {
            tree.together(how);
        } else {
            how.run();
        }
    }

    private void fillTree() {
        if (present) {
            packed.copyTo(tree);
            // The cursor comes along.
            tree.seek(packed.index());
        }
        write.run();
    }

    /** Leaves it as it is, and has it count as changed. */
    void touch() {
        written();
    }

    private void written() {
        present = true;
        call.session().changed(key, Change.SET);
    }

    // --- what makes it shorter

    /** Removes elements, from one number up to another. */
    void remove(long from, long to) {
        if (from == 0 && to == length()) {
            clear();
            return;
        }
        if (isTree && to - from == 1) {
            // Most often the cursor is there, because it has been replied.
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

    /** Removes the first elements, or the last. */
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
     * @param count how many at most, from the first on; negative: from the last on; 0: all
     * @return how many were removed
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
        // Of the least number there is no positive: it is all of them.
        long most = count == 0 || count == Long.MIN_VALUE ? Long.MAX_VALUE : Math.abs(count);
        long removed = 0;
        boolean more = backwards ? tree.last() : tree.first();
        while (more && removed < most) {
            boolean hit = isAt(bytes, length);
            if (hit) {
                tree.remove();
                removed++;
            }
            more = backwards ? tree.previous() : hit ? tree.isAtElement() : tree.next();
        }
        return removed;
    }

    /** Makes the first element the last, or the last the first. */
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
        boolean deleted = call.session().delete(key);
        assert deleted;
        present = false;
        isTree = false;
    }
}
