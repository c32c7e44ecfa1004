package io.varve.server.command.sortedset;

import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.set.SetView;
import io.varve.server.command.text.NumberText;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.resp.Numbers;

/**
 * An operand of ZUNION and its relatives: a sorted set, or a set with a score of 1 for each member. Confined to its
 * event loop; reused from operand to operand.
 *
 * <p>The members' bytes keep their addresses until all operands have been processed. Members of an integer set have no
 * stored text, so it is written into memory that the caller provides.
 */
final class ScoredOperand {
    /** Maximum size of an integer's text. */
    private static final int TEXT_BYTES = Numbers.MAX_LONG_CHARS;
    private static final double SCORE_IN_SET = 1;

    private final Item item = new Item();
    private final SortedSetValue sortedSet = new SortedSetValue();
    private final SetView set = new SetView(new NumberText());
    private boolean isSet;
    /** Address for the texts of its members, and the number of members that the cursor has passed. */
    private long texts;
    private long passed;

    /** Opens a key; replies the error if it has a wrong type. */
    Found open(CommandContext context, Key key) {
        boolean found = context.session().find(key, item);
        if (found && item.type() != ItemType.SORTED_SET && item.type() != ItemType.SET) {
            context.wrongType();
            return Found.WRONG_TYPE;
        }
        lookUp(context, key, found);
        return found ? Found.PRESENT : Found.MISSING;
    }

    /**
     * Reopens a key that has a valid type or is missing. Does not count as an access.
     *
     * @param textsAddress address of {@link #textBytes} bytes
     */
    void openAgain(CommandContext context, Key key, long textsAddress) {
        lookUp(context, key, context.session().peek(key, item));
        texts = textsAddress;
    }

    private void lookUp(CommandContext context, Key key, boolean found) {
        isSet = found && item.type() == ItemType.SET;
        if (isSet) {
            set.bind(context, key, item);
        } else {
            sortedSet.openAgain(context, key);
        }
        passed = 0;
    }

    long size() {
        return isSet ? set.size() : sortedSet.size();
    }

    /** Bytes needed for the texts of members without stored text. */
    long textBytes() {
        return isSet && set.hasIntegers() ? set.size() * TEXT_BYTES : 0;
    }

    /** Moves the cursor to the first member; false if there is none. */
    boolean first() {
        passed = 0;
        return isSet ? set.first() : sortedSet.seek(0);
    }

    /** Moves the cursor to the next member; false if there is none. */
    boolean next() {
        passed++;
        return isSet ? set.next() : sortedSet.next();
    }

    /** Whether a member exists; {@link #score} then returns its score. */
    boolean find(long address, int length) {
        return isSet ? set.contains(address, length) : sortedSet.find(address, length);
    }

    /** Address of the bytes of the member that {@link #first} or {@link #next} moved to. */
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
