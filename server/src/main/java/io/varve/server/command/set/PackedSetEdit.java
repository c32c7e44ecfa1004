package io.varve.server.command.set;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.PackedIntegers;
import io.varve.memory.collection.PackedSet;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.Invocation;
import io.varve.server.command.text.NumberText;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.RandomPicks;
import io.varve.server.resp.Numbers;
import org.jspecify.annotations.Nullable;

/**
 * How a set in the value of one item changes: what it will need is planned, the room is made, which may move the item,
 * and then it is written. Confined to its event loop; reused from command to command.
 *
 * <pre>
 *  begin -+-> plan, for each new member -> makeRoom -> add, for each -----> finish
 *         +-> makeFit -> remove, for each, or removePicked ---------------> finishRemoval
 * </pre>
 *
 * <p>A set begins as integers if its first member is one, and becomes one of any members with the first that is none, or
 * with more integers than {@code set-max-intset-entries}: as in Redis, in the order in which they come.
 */
final class PackedSetEdit {
    static final int MAX_SET_BYTES = Integer.MAX_VALUE - 16;
    /** Where so many times as few members are left as were taken out at random, Redis makes a new set of them. */
    private static final int FEW_PART = 5;

    private final NumberText text;
    private final SetMeasure measure = new SetMeasure();
    private @Nullable Invocation call;
    private @Nullable Key key;
    private Item item = new Item();
    private boolean present;
    private boolean gone;
    /** Whether it consists of integers, or would begin so. */
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
     * Begins.
     *
     * @param isPresent whether the set is there; the item then looks at it
     */
    void begin(Invocation command, Key ofKey, Item ofItem, boolean isPresent) {
        call = command;
        key = ofKey;
        item = ofItem;
        present = isPresent;
        gone = false;
        planned = 0;
        numbers = 0;
        longest = 0;
        bytes = 0;
        integers = !isPresent || ofItem.encoding() == Encodings.SET_INTEGERS;
        width = isPresent && integers ? PackedIntegers.width(ofItem.valueAddress()) : PackedIntegers.LEAST_WIDTH;
    }

    /** Counts a member that the set has not. One that comes twice is counted twice: the sum is what is needed at most. */
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

    /** How many members were planned. */
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

    /** Whether it has not become clear yet that the set will be more than what stays in one item. */
    boolean mayStayPacked() {
        long members = count() + planned;
        return members <= limits().setMaxIntsetEntries() || limits().staysPacked(members, 0)
                || limits().staysListpackSet(members, bytes);
    }

    /** Whether the set stays in one item with what was planned. */
    boolean staysPacked() {
        return staysIntegers() || limits().staysPacked(count() + planned, membersBytes())
                || staysListpack() && limits().staysListpackSet(count() + planned, membersBytes());
    }

    /** Whether OBJECT ENCODING calls it a listpack with what was planned, if there are not too many members. */
    private boolean staysListpack() {
        boolean isIntegers = integers && numbers == planned;
        boolean isTable = present && item.encoding() == Encodings.SET_HASHTABLE;
        return !isIntegers && !isTable && longest <= limits().setMaxListpackValueBytes();
    }

    private boolean staysIntegers() {
        return integers && numbers == planned && count() + numbers <= limits().setMaxIntsetEntries();
    }

    /** Bytes that it takes as members of any kind. */
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

    /** Makes the room for what was planned, and the set if it is missing. */
    void makeRoom() {
        int room = checked(neededBytes());
        if (present) {
            length = item.valueLength();
            // A set that grows and has to move gets a quarter more than it needs, so that a row of new members moves it
            // rarely.
            int capacity = (int) Math.min(MAX_SET_BYTES, room + (long) (room >>> 2));
            session().resize(key(), item, item.encoding(), room, capacity);
            set = item.valueAddress();
        } else {
            int kind = integers ? Encodings.SET_INTEGERS : Encodings.SET_LISTPACK;
            session().put(key(), item, ItemType.SET, kind, room, room, Item.NEVER);
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
        // While they become members of any kind, the integers stand behind them.
        return staysIntegers() ? asIntegers : membersBytes() + asIntegers;
    }

    /** Adds a member that was planned; false if the set has it. */
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

    /** The set has one more member of any kind. */
    private void grown(int memberLength) {
        if (memberLength > limits().setMaxListpackValueBytes()
                || PackedSet.count(set) > limits().setMaxListpackEntries()) {
            encoding = Encodings.SET_HASHTABLE;
        }
    }

    /** Turns integers into members of any kind: they move to the end of the room and come back one by one. */
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

    /** Tells that the set has its new members. */
    void finish() {
        if (length != item.valueLength()) {
            session().resize(key(), item, encoding, length, length);
        } else if (encoding != item.encoding()) {
            session().encoding(key(), item, encoding);
        }
        session().changed(key(), Change.SET);
    }

    // --- less

    /** Makes the set fit to be written without more room: a reply in flight may share its memory, from which it moves then. */
    void makeFit() {
        length = item.valueLength();
        encoding = item.encoding();
        session().resize(key(), item, encoding, length, length);
        set = item.valueAddress();
    }

    /** Removes a member; false if it is none. */
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

    /** Removes those that are picked. */
    void removePicked(RandomPicks picks, long count) {
        if (encoding == Encodings.SET_INTEGERS) {
            removePickedIntegers(picks);
        } else {
            removePickedMembers(picks);
            long left = PackedSet.count(set);
            if (encoding == Encodings.SET_HASHTABLE && isMadeAnew(left, count)) {
                beginAnew();
            }
        }
    }

    private void removePickedIntegers(RandomPicks picks) {
        int count = PackedIntegers.count(set, length);
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if (!picks.takeNext()) {
                PackedIntegers.keep(set, kept++, PackedIntegers.get(set, i));
            }
        }
        length = (int) PackedIntegers.bytes(kept, PackedIntegers.width(set));
    }

    private void removePickedMembers(RandomPicks picks) {
        int kept = 0;
        long to = set + PackedSet.EMPTY_BYTES;
        long next;
        for (long member = PackedSet.first(set, length); member != PackedSet.NONE; member = next) {
            next = PackedSet.next(set, length, member);
            if (!picks.takeNext()) {
                to = PackedSet.moveDown(member, to);
                kept++;
            }
        }
        length = PackedSet.cut(set, to, kept);
    }

    /** The encoding is that of a set which has only ever had the members that are left. */
    private void beginAnew() {
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
        // There is room: five times as many members as are left have gone, each of which had two bytes or more.
        assert freshLength <= item.valueLength() : freshLength;
        Memory.copy(fresh, set, freshLength);
        length = freshLength;
    }

    /** Tells that the set has fewer members; without any it is deleted. */
    void finishRemoval() {
        int empty = encoding == Encodings.SET_INTEGERS ? PackedIntegers.EMPTY_BYTES : PackedSet.EMPTY_BYTES;
        if (length == empty) {
            session().delete(key());
            gone = true;
        } else {
            finish();
        }
    }

    /** Whether the last member has been removed, and the set with it. */
    boolean isGone() {
        return gone;
    }

    // --- kinds

    /** Whether so few members are left of those of which so many were taken out at random that Redis makes a new set of them. */
    static boolean isMadeAnew(long left, long taken) {
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

    private Invocation call() {
        return java.util.Objects.requireNonNull(call);
    }

    private Key key() {
        return java.util.Objects.requireNonNull(key);
    }
}
