package io.varve.server.command.set;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.packed.PackedIntegers;
import io.varve.memory.collection.packed.PackedSet;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.text.NumberText;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.SelectionSampler;
import io.varve.server.resp.Numbers;
import org.jspecify.annotations.Nullable;

/**
 * Changes a packed set, stored as the value of one item. Confined to its event loop; reused from command to command.
 * The caller plans the additions, reserves the memory, which may move the item, and then writes.
 *
 * <pre>
 *  begin -+-> plan, for each new member -> reserve -> add, for each -----> finish
 *         +-> makeFit -> remove, for each, or removePicked ---------------> finishRemoval
 * </pre>
 *
 * <p>A set starts as integers if its first member is one. It is converted with the first member that is no integer, or
 * with more integers than {@code set-max-intset-entries}. As in Redis, this depends on the order of the additions.
 */
final class PackedSetEdit {
    static final int MAX_SET_BYTES = Integer.MAX_VALUE - 16;
    /** Redis rebuilds a set if a random removal takes at least this many times the remaining members. */
    private static final int FEW_PART = 5;

    private final NumberText text;
    private final SetMeasure measure = new SetMeasure();
    private @Nullable CommandContext context;
    private @Nullable Key key;
    private Item item = new Item();
    private boolean present;
    private boolean deleted;
    /** Whether it consists of integers, or would start so. */
    private boolean integers;
    private long planned;
    private long numbers;
    private int longest;
    private long bytes;
    private int width;
    private long set;
    private int length;
    private int encoding;

    PackedSetEdit(NumberText text) {
        this.text = text;
    }

    /**
     * Begins a change.
     *
     * @param isPresent whether the set exists; the item then points at it
     */
    void begin(CommandContext command, Key ofKey, Item ofItem, boolean isPresent) {
        context = command;
        key = ofKey;
        item = ofItem;
        present = isPresent;
        deleted = false;
        planned = 0;
        numbers = 0;
        longest = 0;
        bytes = 0;
        integers = !isPresent || ofItem.encoding() == Encodings.SET_INTEGERS;
        width = isPresent && integers ? PackedIntegers.width(ofItem.valueAddress()) : PackedIntegers.MIN_WIDTH;
    }

    /**
     * Plans the addition of a member that the set does not have. A repeated member counts twice, so the sum is an upper
     * bound.
     */
    void plan(long address, int memberLength) {
        boolean number = call().parseLong(address, memberLength);
        if (planned == 0 && !present) {
            integers = number;
        }
        planned++;
        longest = Math.max(longest, memberLength);
        bytes += PackedSet.memberBytes(memberLength);
        if (number) {
            numbers++;
            width = Math.max(width, PackedIntegers.widthOf(call().longValue()));
        }
    }

    /** Number of planned members. */
    long planned() {
        return planned;
    }

    private int count() {
        if (!present) {
            return 0;
        }
        return integers
                ? PackedIntegers.count(item.valueAddress(), item.valueLength())
                : PackedSet.count(item.valueAddress());
    }

    /** Whether the set may still stay packed with the members planned so far. */
    boolean mayStayPacked() {
        long members = count() + planned;
        return members <= limits().setMaxIntsetEntries() || limits().staysPacked(members, 0)
                || limits().staysListpackSet(members, bytes);
    }

    /** Whether the set stays packed with the planned members. */
    boolean staysPacked() {
        return staysIntegers() || limits().staysPacked(count() + planned, membersBytes())
                || staysListpack() && limits().staysListpackSet(count() + planned, membersBytes());
    }

    /** Whether OBJECT ENCODING reports a listpack with the planned members, unless they are too many. */
    private boolean staysListpack() {
        boolean isIntegers = integers && numbers == planned;
        boolean isTable = present && item.encoding() == Encodings.SET_HASHTABLE;
        return !isIntegers && !isTable && longest <= limits().setMaxListpackValueBytes();
    }

    private boolean staysIntegers() {
        return integers && numbers == planned && count() + numbers <= limits().setMaxIntsetEntries();
    }

    /** Size of the set in the general layout, bytes. */
    private long membersBytes() {
        if (!integers) {
            return bytes + (present ? item.valueLength() : PackedSet.EMPTY_BYTES);
        }
        long asMembers = PackedSet.EMPTY_BYTES + bytes;
        int count = count();
        for (int i = 0; i < count; i++) {
            asMembers += PackedSet.memberBytes(Numbers.longChars(PackedIntegers.get(item.valueAddress(), i)));
        }
        return asMembers;
    }

    /** Reserves the memory for the planned members, and creates the set if it does not exist. */
    void reserve() {
        int needed = checked(neededBytes());
        if (present) {
            length = item.valueLength();
            // A growing set that has to move gets a quarter more than it needs, so that a series of new members rarely
            // moves it.
            int capacity = (int) Math.min(MAX_SET_BYTES, needed + (long) (needed >>> 2));
            session().resize(key(), item, item.encoding(), needed, capacity);
            set = item.valueAddress();
        } else {
            int kind = integers ? Encodings.SET_INTEGERS : Encodings.SET_LISTPACK;
            session().put(key(), item, ItemType.SET, kind, needed, needed, Item.NEVER);
            set = item.valueAddress();
            if (integers) {
                PackedIntegers.clear(set);
                length = PackedIntegers.EMPTY_BYTES;
            } else {
                PackedSet.clear(set);
                length = PackedSet.EMPTY_BYTES;
            }
        }
        encoding = item.encoding();
    }

    private long neededBytes() {
        long asIntegers = integers ? PackedIntegers.bytes(count() + numbers, width) : 0;
        // During the conversion to the general layout, the integers are stored after it.
        return staysIntegers() ? asIntegers : membersBytes() + asIntegers;
    }

    /** Adds a planned member; false if the set has it. */
    boolean add(long address, int memberLength) {
        if (encoding == Encodings.SET_INTEGERS) {
            if (call().parseLong(address, memberLength)) {
                return addNumber(call().longValue());
            }
            becomeMembers();
        }
        if (PackedSet.find(set, length, address, memberLength) != PackedSet.NONE) {
            return false;
        }
        length = PackedSet.append(set, length, address, memberLength);
        grown(memberLength);
        return true;
    }

    private boolean addNumber(long value) {
        int index = PackedIntegers.indexOf(set, length, value);
        if (index >= 0) {
            return false;
        }
        length = PackedIntegers.add(set, length, -1 - index, value);
        if (PackedIntegers.count(set, length) > limits().setMaxIntsetEntries()) {
            becomeMembers();
            encoding = Encodings.SET_HASHTABLE;
        }
        return true;
    }

    /** Updates the encoding after the addition of a member in the general layout. */
    private void grown(int memberLength) {
        if (memberLength > limits().setMaxListpackValueBytes()
                || PackedSet.count(set) > limits().setMaxListpackEntries()) {
            encoding = Encodings.SET_HASHTABLE;
        }
    }

    /**
     * Converts integers to the general layout: they move to the end of the reserved memory and are appended one by one.
     */
    private void becomeMembers() {
        int count = PackedIntegers.count(set, length);
        long behind = set + item.valueLength() - length;
        Memory.copy(set, behind, length);
        PackedSet.clear(set);
        length = PackedSet.EMPTY_BYTES;
        encoding = Encodings.SET_LISTPACK;
        for (int i = 0; i < count; i++) {
            long value = PackedIntegers.get(behind, i);
            int chars = Numbers.longChars(value);
            length = PackedSet.append(set, length, text.write(value), chars);
            grown(chars);
        }
    }

    /** Completes additions, and reports the change. */
    void finish() {
        if (length != item.valueLength()) {
            session().resize(key(), item, encoding, length, length);
        } else if (encoding != item.encoding()) {
            session().encoding(key(), item, encoding);
        }
        session().changed(key(), Change.SET);
    }

    // --- removal

    /** Makes the set writable without growth: it moves if a reply in flight shares its memory. */
    void makeFit() {
        length = item.valueLength();
        encoding = item.encoding();
        session().resize(key(), item, encoding, length, length);
        set = item.valueAddress();
    }

    /** Removes a member; false if the set does not have it. */
    boolean remove(long address, int memberLength) {
        if (encoding == Encodings.SET_INTEGERS) {
            int index = call().parseLong(address, memberLength)
                    ? PackedIntegers.indexOf(set, length, call().longValue())
                    : -1;
            if (index >= 0) {
                length = PackedIntegers.remove(set, length, index);
            }
            return index >= 0;
        }
        long member = PackedSet.find(set, length, address, memberLength);
        if (member != PackedSet.NONE) {
            length = PackedSet.remove(set, length, member);
        }
        return member != PackedSet.NONE;
    }

    /** Removes the members that the sampler selects. */
    void removePicked(SelectionSampler sampler, long count) {
        if (encoding == Encodings.SET_INTEGERS) {
            removePickedIntegers(sampler);
        } else {
            removePickedMembers(sampler);
            long left = PackedSet.count(set);
            if (encoding == Encodings.SET_HASHTABLE && isRebuilt(left, count)) {
                restart();
            }
        }
    }

    private void removePickedIntegers(SelectionSampler sampler) {
        int count = PackedIntegers.count(set, length);
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if (!sampler.takeNext()) {
                PackedIntegers.keep(set, kept++, PackedIntegers.get(set, i));
            }
        }
        length = (int) PackedIntegers.bytes(kept, PackedIntegers.width(set));
    }

    private void removePickedMembers(SelectionSampler sampler) {
        int kept = 0;
        long to = set + PackedSet.EMPTY_BYTES;
        long next;
        for (long member = PackedSet.first(set, length); member != PackedSet.NONE; member = next) {
            next = PackedSet.next(set, length, member);
            if (!sampler.takeNext()) {
                to = PackedSet.moveDown(member, to);
                kept++;
            }
        }
        length = PackedSet.cut(set, to, kept);
    }

    /** Resets the encoding to that of a set that has only ever had the remaining members. */
    private void restart() {
        measure.clear();
        for (long member = PackedSet.first(set, length); member != PackedSet.NONE; member = PackedSet.next(set, length,
                member)) {
            measure.add(PackedSet.address(member), PackedSet.length(member));
        }
        encoding = measure.encoding(limits());
        if (encoding == Encodings.SET_INTEGERS) {
            becomeIntegers((int) measure.count(), measure.width());
        }
    }

    private void becomeIntegers(int count, int widest) {
        long fresh = call().scratch((int) PackedIntegers.bytes(count, widest));
        PackedIntegers.clear(fresh, widest);
        int freshLength = PackedIntegers.EMPTY_BYTES;
        for (long member = PackedSet.first(set, length); member != PackedSet.NONE; member = PackedSet.next(set, length,
                member)) {
            long value = Numbers.toLong(PackedSet.address(member), PackedSet.length(member));
            freshLength = PackedIntegers.add(fresh, freshLength,
                    -1 - PackedIntegers.indexOf(fresh, freshLength, value), value);
        }
        // There is space: five times as many members as remain were removed, each of which had two bytes or more.
        assert freshLength <= item.valueLength() : freshLength;
        Memory.copy(fresh, set, freshLength);
        length = freshLength;
    }

    /** Completes removals, and reports the change; without members deletes the set. */
    void finishRemoval() {
        int empty = encoding == Encodings.SET_INTEGERS ? PackedIntegers.EMPTY_BYTES : PackedSet.EMPTY_BYTES;
        if (length == empty) {
            session().delete(key());
            deleted = true;
        } else {
            finish();
        }
    }

    /** Whether the last member was removed, and the set with it. */
    boolean isDeleted() {
        return deleted;
    }

    // --- limits

    /**
     * Whether Redis would rebuild the set, because few members remain of those from which many were removed at random.
     */
    static boolean isRebuilt(long left, long taken) {
        return left > 0 && FEW_PART * left <= taken;
    }

    static int checked(long length) {
        if (length > MAX_SET_BYTES) {
            throw CacheFullException.TOO_LARGE;
        }
        return (int) length;
    }

    private io.varve.server.config.ServerConfig limits() {
        return call().server().config();
    }

    private CacheSession session() {
        return call().session();
    }

    private CommandContext call() {
        return java.util.Objects.requireNonNull(context);
    }

    private Key key() {
        return java.util.Objects.requireNonNull(key);
    }
}
