package io.varve.server.command;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.PackedList;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.KeyLookup.Found;

/**
 * A list as commands see it: elements in a row under one key, a cursor that walks over them, and the ways to change them.
 * Confined to its event loop; reused from command to command, so that it allocates nothing.
 *
 * <p>It is opened for a key whose shard is locked, and good until the command ends. The cursor stands on an element after
 * {@link #seek} and while {@link #next} and {@link #previous} say so; what changes the list ends that. Whatever makes a list longer
 * makes the room first and is refused with a {@link CacheFullException} before anything is changed; what makes it shorter is
 * never refused once {@link #prepare} has returned. A list that loses its last element goes with its key.
 */
final class ListValue {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;
    /** Entries whose places are noted by who goes backwards. */
    private static final int ANCHORS = 1024;

    private final Invocation call;
    private final Item item = new Item();
    private Key key = new Key();
    private boolean present;
    /** The cursor: where its element is, and which. */
    private int offset;
    private int index;
    /** Where every so many-th entry is, by who goes backwards; 0: not noted. */
    private final int[] anchors = new int[ANCHORS];
    private int anchorStep;

    ListValue(Invocation call) {
        this.call = call;
    }

    // --- open

    /** For a command that answers what is in it; replies the error if the key has another type. */
    Found find(Key at) {
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
        anchorStep = 0;
    }

    /** How many elements; 0 if it is not there. */
    int length() {
        return present ? PackedList.count(item.valueAddress()) : 0;
    }

    // --- the cursor

    /** Goes to the element of a number from 0 to one less than {@link #length}. */
    void seek(int number) {
        index = number;
        offset = PackedList.skip(item.valueAddress(), PackedList.EMPTY_BYTES, number);
    }

    /** Goes to the first element or the last. */
    void seekEnd(boolean first) {
        seek(first ? 0 : length() - 1);
    }

    /** Goes on to the next element; false if there is none. */
    boolean next() {
        if (index + 1 >= length()) {
            return false;
        }
        index++;
        offset = PackedList.next(item.valueAddress(), offset);
        return true;
    }

    /** Goes back to the element in front; false if there is none. */
    boolean previous() {
        if (index == 0) {
            return false;
        }
        if (anchorStep == 0) {
            noteAnchors();
        }
        index--;
        offset = PackedList.skip(item.valueAddress(), anchors[index / anchorStep], index % anchorStep);
        return true;
    }

    /** An entry does not tell where the one in front of it begins. */
    private void noteAnchors() {
        int length = length();
        anchorStep = length / ANCHORS + 1;
        int at = PackedList.EMPTY_BYTES;
        for (int i = 0; i < length; i++) {
            if (i % anchorStep == 0) {
                anchors[i / anchorStep] = at;
            }
            at = PackedList.next(item.valueAddress(), at);
        }
    }

    /** The number of the element at the cursor. */
    int index() {
        return index;
    }

    long elementAddress() {
        return PackedList.elementAddress(item.valueAddress(), offset);
    }

    int elementLength() {
        return PackedList.elementLength(item.valueAddress(), offset);
    }

    /** Whether the element at the cursor has these bytes. */
    boolean isAt(long address, int length) {
        return PackedList.isEqual(item.valueAddress(), offset, address, length);
    }

    /** Replies the element at the cursor. */
    void reply() {
        Values.reply(call, item, elementAddress(), elementLength());
    }

    /**
     * Replies the element at the cursor, which is about to be removed. What is sent out of its run has the rest of the list move
     * away: that is done only where the rest is less than what else would be copied.
     */
    void replyTaken() {
        int length = elementLength();
        if (length > item.valueLength() - length) {
            reply();
        } else {
            call.reply().bulk(elementAddress(), length);
        }
    }

    // --- change

    /**
     * Makes a list that is there fit to be changed in place. To be called before anything is: its memory may be shared with a
     * reply in flight, and it then moves away from it.
     */
    void prepare() {
        makeRoom(0);
    }

    /** Adds the arguments from number {@code from} on, one after the other, at the beginning or at the end. */
    void pushArguments(boolean first, int from) {
        long bytes = 0;
        int end = call.argumentCount();
        for (int i = from; i < end; i++) {
            bytes += PackedList.entryBytes(call.argumentLength(i));
        }
        makeRoomOrList(bytes);
        int length = (int) (item.valueLength() - bytes);
        int at = first ? PackedList.EMPTY_BYTES : length;
        long list = item.valueAddress();
        PackedList.open(list, length, at, (int) bytes, end - from);
        for (int i = 0; i < end - from; i++) {
            // At the beginning the one that is added last comes first.
            int argument = first ? end - 1 - i : from + i;
            at = PackedList.write(list, at, call.argumentAddress(argument), call.argumentLength(argument));
        }
        call.session().changed(key, Change.SET);
    }

    /** Adds an element, which does not lie in this list, at the beginning or at the end. */
    void push(boolean first, long address, int elementLength) {
        long bytes = PackedList.entryBytes(elementLength);
        makeRoomOrList(bytes);
        int length = (int) (item.valueLength() - bytes);
        insert(first ? PackedList.EMPTY_BYTES : length, length, (int) bytes, address, elementLength);
    }

    /** Adds an element, which does not lie in this list, in front of the one at the cursor or behind it. */
    void insert(boolean before, long address, int elementLength) {
        long bytes = PackedList.entryBytes(elementLength);
        int length = item.valueLength();
        makeRoom(bytes);
        int at = before ? offset : PackedList.next(item.valueAddress(), offset);
        insert(at, length, (int) bytes, address, elementLength);
    }

    private void insert(int at, int length, int bytes, long address, int elementLength) {
        long list = item.valueAddress();
        PackedList.open(list, length, at, bytes, 1);
        PackedList.write(list, at, address, elementLength);
        call.session().changed(key, Change.SET);
    }

    /** Puts an element, which does not lie in this list, in the place of the one at the cursor. */
    void replace(long address, int elementLength) {
        int length = item.valueLength();
        long more = PackedList.entryBytes(elementLength) - PackedList.entryBytes(elementLength());
        makeRoom(Math.max(0, more));
        finish(PackedList.replace(item.valueAddress(), length, offset, address, elementLength));
    }

    /** Removes elements, from one number up to another. */
    void remove(int from, int to) {
        if (from == 0 && to == length()) {
            clear();
            return;
        }
        prepare();
        long list = item.valueAddress();
        int start = PackedList.skip(list, PackedList.EMPTY_BYTES, from);
        int end = to == length() ? item.valueLength() : PackedList.skip(list, start, to - from);
        finish(PackedList.remove(list, item.valueLength(), start, end, to - from));
    }

    /** Removes the first elements, or the last. */
    void removeEnd(boolean first, int count) {
        int length = length();
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
    int removeEqual(long address, int elementLength, long count) {
        int found = PackedList.countEqual(item.valueAddress(), item.valueLength(), address, elementLength);
        int removed = count == 0 ? found : (int) Math.min(found, count == Long.MIN_VALUE ? found : Math.abs(count));
        if (removed == 0) {
            return 0;
        }
        if (removed == length()) {
            clear();
            return removed;
        }
        prepare();
        int spared = count < 0 ? found - removed : 0;
        finish(PackedList.removeEqual(item.valueAddress(), item.valueLength(), address, elementLength, spared,
                removed));
        return removed;
    }

    /** Leaves it as it is, and has it count as changed. */
    void touch() {
        call.session().changed(key, Change.SET);
    }

    /** Makes the first element the last, or the last the first. */
    void rotate(boolean firstToLast) {
        seekEnd(firstToLast);
        int length = item.valueLength();
        int from = offset;
        makeRoom(PackedList.entryBytes(elementLength()));
        if (firstToLast) {
            PackedList.firstToLast(item.valueAddress(), length);
        } else {
            PackedList.lastToFirst(item.valueAddress(), length, from);
        }
        finish(length);
    }

    private void clear() {
        boolean deleted = call.session().delete(key);
        assert deleted;
        present = false;
    }

    private void makeRoomOrList(long bytes) {
        if (present) {
            makeRoom(bytes);
        } else {
            int length = checked(PackedList.EMPTY_BYTES + bytes);
            call.session().put(key, item, ItemType.LIST, Encodings.LIST_PACKED, length, length, Item.NEVER);
            PackedList.clear(item.valueAddress());
            present = true;
        }
        anchorStep = 0;
    }

    /**
     * Makes room for so many bytes more. A list that grows and has to move gets a quarter more than it needs, so that a row of
     * pushes moves it rarely.
     */
    private void makeRoom(long more) {
        int length = checked(item.valueLength() + more);
        int capacity = more == 0 ? length : (int) Math.min(MAX_BYTES, length + (long) (length >>> 2));
        call.session().resize(key, item, item.encoding(), length, capacity);
    }

    private void finish(int length) {
        CacheSession session = call.session();
        if (length != item.valueLength()) {
            session.resize(key, item, item.encoding(), length, length);
        }
        anchorStep = 0;
        session.changed(key, Change.SET);
    }

    private static int checked(long length) {
        if (length > MAX_BYTES) {
            throw CacheFullException.INSTANCE;
        }
        return (int) length;
    }
}
