package io.varve.server.command.sortedset;

import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.Invocation;
import io.varve.server.command.set.SetView;
import io.varve.server.command.text.NumberText;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.resp.Numbers;

/**
 * One of the operands of ZUNION and its relatives, a sorted set or a set, with a score for each member: 1 in a set. Confined
 * to its event loop; reused from operand to operand.
 *
 * <p>The members' bytes stay where they are until all operands have been gone through. Those of a set of integers have none:
 * they are written into memory that the caller provides.
 */
final class ScoredOperand {
    /** What the text of an integer has room for. */
    private static final int TEXT_BYTES = Numbers.MAX_LONG_CHARS;
    private static final double SCORE_IN_SET = 1;

    private final Item item = new Item();
    private final SortedSetValue sortedSet = new SortedSetValue();
    private final SetView set = new SetView(new NumberText());
    private boolean isSet;
    /** Where the texts of its members are to be written, and how many members the cursor has passed. */
    private long texts;
    private long passed;

    /** Looks the key up; the error for a wrong type is replied. */
    Found open(Invocation call, Key key) {
        boolean found = call.session().find(key, item);
        if (found && item.type() != ItemType.SORTED_SET && item.type() != ItemType.SET) {
            call.wrongType();
            return Found.WRONG_TYPE;
        }
        look(call, key, found);
        return found ? Found.PRESENT : Found.MISSING;
    }

    /**
     * Looks at a key once more whose type was right; leaves no trace.
     *
     * @param textsAddress where there are {@link #textBytes} for it
     */
    void openAgain(Invocation call, Key key, long textsAddress) {
        look(call, key, call.session().peek(key, item));
        texts = textsAddress;
    }

    private void look(Invocation call, Key key, boolean found) {
        isSet = found && item.type() == ItemType.SET;
        if (isSet) {
            set.look(call, key, item);
        } else {
            sortedSet.openAgain(call, key);
        }
        passed = 0;
    }

    long size() {
        return isSet ? set.size() : sortedSet.size();
    }

    /** What the texts of its members take that have no bytes of their own. */
    long textBytes() {
        return isSet && set.hasIntegers() ? set.size() * TEXT_BYTES : 0;
    }

    /** Goes to the first member; false if there is none. */
    boolean first() {
        passed = 0;
        return isSet ? set.first() : sortedSet.seek(0);
    }

    /** Goes to the next member; false if there is none. */
    boolean next() {
        passed++;
        return isSet ? set.next() : sortedSet.next();
    }

    /** Whether a member is there; {@link #score} then tells of it. */
    boolean find(long address, int length) {
        return isSet ? set.contains(address, length) : sortedSet.find(address, length);
    }

    /** Where the bytes are of the member that {@link #first} and {@link #next} went to. */
    long memberAddress() {
        if (!isSet) {
            return sortedSet.memberAddress();
        }
        if (!set.hasIntegers()) {
            return set.memberAddress();
        }
        long text = texts + passed * TEXT_BYTES;
        Memory.copy(set.memberAddress(), text, set.memberLength());
        return text;
    }

    int memberLength() {
        return isSet ? set.memberLength() : sortedSet.memberLength();
    }

    double score() {
        return isSet ? SCORE_IN_SET : sortedSet.score();
    }
}
