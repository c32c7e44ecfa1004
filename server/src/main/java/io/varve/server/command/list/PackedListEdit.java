package io.varve.server.command.list;

import io.varve.memory.collection.ListTree;
import io.varve.memory.collection.PackedList;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.Values;

/**
 * A list in the value of one item: a cursor over its elements, and how they change. Confined to its event loop; reused from command
 * to command. {@link ListValue} says what it promises, and tells of its changes.
 */
final class PackedListEdit {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;
    /** Entries whose places are noted by who goes backwards. */
    private static final int ANCHORS = 1024;

    private final Invocation call;
    private final Item item;
    private Key key = new Key();
    private boolean present;
    /** The cursor: where its element is, and which. */
    private int offset;
    private int index;
    /** Where every so many-th entry is, by who goes backwards; 0: not noted. */
    private final int[] anchors = new int[ANCHORS];
    private int anchorStep;

    PackedListEdit(Invocation call, Item item) {
        this.call = call;
        this.item = item;
    }

    /** The item looks at the list of a key, if that is there. */
    void open(Key at, boolean there) {
        key = at;
        present = there;
        index = 0;
        anchorStep = 0;
    }

    /** How many elements; 0 if it is not there. */
    int length() {
        return present ? PackedList.count(item.valueAddress()) : 0;
    }

    /** Bytes of its value, or of that of an empty list. */
    int bytes() {
        return present ? item.valueLength() : PackedList.EMPTY_BYTES;
    }

    // --- the cursor

    void seek(int number) {
        index = number;
        offset = PackedList.skip(item.valueAddress(), PackedList.EMPTY_BYTES, number);
    }

    boolean next() {
        if (index + 1 >= length()) {
            return false;
        }
        index++;
        offset = PackedList.next(item.valueAddress(), offset);
        return true;
    }

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

    int index() {
        return index;
    }

    long elementAddress() {
        return PackedList.elementAddress(item.valueAddress(), offset);
    }

    int elementLength() {
        return PackedList.elementLength(item.valueAddress(), offset);
    }

    boolean isAt(long address, int length) {
        return PackedList.isEqual(item.valueAddress(), offset, address, length);
    }

    void reply() {
        Values.reply(call, item, elementAddress(), elementLength());
    }

    /**
     * What is sent out of its run has the rest of the list move away: that is done only where the rest is less than what else would be
     * copied.
     */
    void replyTaken() {
        int length = elementLength();
        if (length > item.valueLength() - length) {
            reply();
        } else {
            call.reply().bulk(elementAddress(), length);
        }
    }

    /** Puts all elements into a tree that is being made. */
    void copyTo(ListTree tree) {
        long list = item.valueAddress();
        int end = bytes();
        for (int at = PackedList.EMPTY_BYTES; at < end; at = PackedList.next(list, at)) {
            tree.addLast(PackedList.elementAddress(list, at), PackedList.elementLength(list, at));
        }
    }

    // --- change

    void prepare() {
        makeRoom(0);
    }

    /** @param bytes what the arguments take as entries */
    void pushArguments(boolean first, int from, long bytes) {
        int end = call.argumentCount();
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
    }

    void push(boolean first, long address, int elementLength) {
        long bytes = PackedList.entryBytes(elementLength);
        makeRoomOrList(bytes);
        int length = (int) (item.valueLength() - bytes);
        insert(first ? PackedList.EMPTY_BYTES : length, length, (int) bytes, address, elementLength);
    }

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
    }

    /** How many bytes more it would have with another element in the place of the one at the cursor; negative: less. */
    long moreBytes(int elementLength) {
        return PackedList.entryBytes(elementLength) - PackedList.entryBytes(elementLength());
    }

    void replace(long address, int elementLength) {
        int length = item.valueLength();
        makeRoom(Math.max(0, moreBytes(elementLength)));
        finish(PackedList.replace(item.valueAddress(), length, offset, address, elementLength));
    }

    /** Removes elements, not all, from one number up to another. */
    void remove(int from, int to) {
        prepare();
        long list = item.valueAddress();
        int start = PackedList.skip(list, PackedList.EMPTY_BYTES, from);
        int end = to == length() ? item.valueLength() : PackedList.skip(list, start, to - from);
        finish(PackedList.remove(list, item.valueLength(), start, end, to - from));
    }

    /** Removes equal elements, or leaves that to the caller if it is all of them. @return how many */
    int removeEqual(long address, int elementLength, long count) {
        int found = PackedList.countEqual(item.valueAddress(), item.valueLength(), address, elementLength);
        int removed = count == 0 ? found : (int) Math.min(found, count == Long.MIN_VALUE ? found : Math.abs(count));
        if (removed == 0 || removed == length()) {
            return removed;
        }
        prepare();
        int spared = count < 0 ? found - removed : 0;
        finish(PackedList.removeEqual(item.valueAddress(), item.valueLength(), address, elementLength, spared,
                removed));
        return removed;
    }

    void rotate(boolean firstToLast) {
        seek(firstToLast ? 0 : length() - 1);
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

    // --- room

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
        if (length != item.valueLength()) {
            call.session().resize(key, item, item.encoding(), length, length);
        }
        anchorStep = 0;
    }

    private static int checked(long length) {
        if (length > MAX_BYTES) {
            throw CacheFullException.TOO_LARGE;
        }
        return (int) length;
    }
}
