package io.varve.server.command.list;

import io.varve.memory.collection.ListTree;
import io.varve.memory.collection.packed.PackedList;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.value.Encodings;

/**
 * A packed list, stored as the value of one item: a cursor over its elements, and changes. Confined to its event loop;
 * reused from command to command. {@link ListValue} documents its contract and publishes its changes.
 */
final class PackedListEdit {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 16;
    /** Maximum number of entry offsets recorded for backward iteration. */
    private static final int ANCHORS = 1024;

    private final CommandContext context;
    private final Item item;
    private Key key = new Key();
    private boolean present;
    /** Offset and number of the cursor's element. */
    private int offset;
    private int index;
    /** Offsets of every {@link #anchorStep}-th entry for backward iteration; unused while {@link #anchorStep} is 0. */
    private final int[] anchors = new int[ANCHORS];
    private int anchorStep;

    PackedListEdit(CommandContext context, Item item) {
        this.context = context;
        this.item = item;
    }

    /** Opens the list of a key; the item points at it if it exists. */
    void open(Key at, boolean there) {
        key = at;
        present = there;
        index = 0;
        anchorStep = 0;
    }

    /** Number of elements; 0 if the list does not exist. */
    int length() {
        return present ? PackedList.count(item.valueAddress()) : 0;
    }

    /** Length of its value, bytes, or of an empty list's. */
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

    /** Needed because an entry does not store where the previous one begins. */
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
        context.replyValue(item, elementAddress(), elementLength());
    }

    /**
     * An element sent from its run forces the rest of the list to move. Sending pays off only if the rest is shorter
     * than the element, which would be copied otherwise.
     */
    void replyTaken() {
        int length = elementLength();
        if (length > item.valueLength() - length) {
            reply();
        } else {
            context.reply().bulk(elementAddress(), length);
        }
    }

    /** Copies all elements into a tree under construction. */
    void copyTo(ListTree tree) {
        long list = item.valueAddress();
        int end = bytes();
        for (int at = PackedList.EMPTY_BYTES; at < end; at = PackedList.next(list, at)) {
            tree.addLast(PackedList.elementAddress(list, at), PackedList.elementLength(list, at));
        }
    }

    // --- change

    void prepare() {
        reserve(0);
    }

    /** @param bytes size of the arguments as entries */
    void pushArguments(boolean first, int from, long bytes) {
        int end = context.argumentCount();
        reserveOrConvert(bytes);
        int length = (int) (item.valueLength() - bytes);
        int at = first ? PackedList.EMPTY_BYTES : length;
        long list = item.valueAddress();
        PackedList.open(list, length, at, (int) bytes, end - from);
        for (int i = 0; i < end - from; i++) {
            // At the beginning, the last argument becomes the first element.
            int argument = first ? end - 1 - i : from + i;
            at = PackedList.write(list, at, context.argumentAddress(argument), context.argumentLength(argument));
        }
    }

    void push(boolean first, long address, int elementLength) {
        long bytes = PackedList.entryBytes(elementLength);
        reserveOrConvert(bytes);
        int length = (int) (item.valueLength() - bytes);
        insert(first ? PackedList.EMPTY_BYTES : length, length, (int) bytes, address, elementLength);
    }

    void insert(boolean before, long address, int elementLength) {
        long bytes = PackedList.entryBytes(elementLength);
        int length = item.valueLength();
        reserve(bytes);
        int at = before ? offset : PackedList.next(item.valueAddress(), offset);
        insert(at, length, (int) bytes, address, elementLength);
    }

    private void insert(int at, int length, int bytes, long address, int elementLength) {
        long list = item.valueAddress();
        PackedList.open(list, length, at, bytes, 1);
        PackedList.write(list, at, address, elementLength);
    }

    /** Growth of the list, bytes, if the cursor's element is replaced by one of this length; negative: it shrinks. */
    long moreBytes(int elementLength) {
        return PackedList.entryBytes(elementLength) - PackedList.entryBytes(elementLength());
    }

    void replace(long address, int elementLength) {
        int length = item.valueLength();
        reserve(Math.max(0, moreBytes(elementLength)));
        finish(PackedList.replace(item.valueAddress(), length, offset, address, elementLength));
    }

    /** Removes the elements from number {@code from}, inclusive, to {@code to}, exclusive, but not all elements. */
    void remove(int from, int to) {
        prepare();
        long list = item.valueAddress();
        int start = PackedList.skip(list, PackedList.EMPTY_BYTES, from);
        int end = to == length() ? item.valueLength() : PackedList.skip(list, start, to - from);
        finish(PackedList.remove(list, item.valueLength(), start, end, to - from));
    }

    /** Removes equal elements, but leaves the removal to the caller if all elements are equal. @return their number */
    int removeEqual(long address, int elementLength, long count) {
        int found = PackedList.countEqual(item.valueAddress(), item.valueLength(), address, elementLength);
        int removed = count == 0 ? found : (int) Math.min(found, count == Long.MIN_VALUE ? found : Math.abs(count));
        if (removed == 0 || removed == length()) {
            return removed;
        }
        prepare();
        int skipped = count < 0 ? found - removed : 0;
        finish(PackedList.removeEqual(item.valueAddress(), item.valueLength(), address, elementLength, skipped,
                removed));
        return removed;
    }

    void rotate(boolean firstToLast) {
        seek(firstToLast ? 0 : length() - 1);
        int length = item.valueLength();
        int from = offset;
        reserve(PackedList.entryBytes(elementLength()));
        if (firstToLast) {
            PackedList.firstToLast(item.valueAddress(), length);
        } else {
            PackedList.lastToFirst(item.valueAddress(), length, from);
        }
        finish(length);
    }

    // --- memory

    private void reserveOrConvert(long bytes) {
        if (present) {
            reserve(bytes);
        } else {
            int length = checked(PackedList.EMPTY_BYTES + bytes);
            context.session().put(key, item, ItemType.LIST, Encodings.LIST_PACKED, length, length, Item.NEVER);
            PackedList.clear(item.valueAddress());
            present = true;
        }
        anchorStep = 0;
    }

    /**
     * Grows the value. A list that has to move gets a quarter more than it needs, so that a series of pushes rarely
     * moves it.
     */
    private void reserve(long more) {
        int length = checked(item.valueLength() + more);
        int capacity = more == 0 ? length : (int) Math.min(MAX_BYTES, length + (long) (length >>> 2));
        context.session().resize(key, item, item.encoding(), length, capacity);
    }

    private void finish(int length) {
        if (length != item.valueLength()) {
            context.session().resize(key, item, item.encoding(), length, length);
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
