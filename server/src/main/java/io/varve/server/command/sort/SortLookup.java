package io.varve.server.command.sort;

import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.Arguments;
import io.varve.server.command.Invocation;
import io.varve.server.command.hash.HashValue;
import io.varve.server.command.value.Values;
import io.varve.server.command.value.WorkMemory;

/**
 * Looks for the values that SORT's BY and GET lead to: a pattern's asterisk is replaced by an element, which makes a key, and behind
 * an arrow there may be a field. Confined to its event loop; reused from command to command, while the shards of all keys are locked.
 */
final class SortLookup {
    private final WorkMemory name = new WorkMemory();
    private final Key key = new Key();
    private final Item item = new Item();
    private long address;
    private int length;

    /** Whether a key is made of the argument. As in Redis a byte of zero ends the search for the asterisk. */
    static boolean isPattern(Arguments arguments, int argument) {
        return asterisk(arguments.argumentAddress(argument), arguments.argumentLength(argument)) >= 0;
    }

    private static int asterisk(long pattern, int patternLength) {
        for (int i = 0; i < patternLength && Memory.getByte(pattern + i) != 0; i++) {
            if (Memory.getByte(pattern + i) == '*') {
                return i;
            }
        }
        return -1;
    }

    /** Where the arrow in front of a field is; the pattern's end if there is none, or nothing behind it. */
    private static int arrow(long pattern, int patternLength, int asterisk) {
        for (int i = asterisk + 1; i + 2 < patternLength && Memory.getByte(pattern + i) != 0; i++) {
            if (Memory.getByte(pattern + i) == '-' && Memory.getByte(pattern + i + 1) == '>') {
                return Memory.getByte(pattern + i + 2) == 0 ? patternLength : i;
            }
        }
        return patternLength;
    }

    /**
     * Looks for what a pattern makes of an element.
     *
     * @return whether it is there: {@link #address} and {@link #length} then tell where, for as long as the locks are held. What is to be
     *         fetched from flash first counts as missing
     */
    boolean find(Invocation call, int argument, long element, int elementLength) {
        long pattern = call.argumentAddress(argument);
        int patternLength = call.argumentLength(argument);
        if (isElement(pattern, patternLength)) {
            address = element;
            length = elementLength;
            return true;
        }
        int asterisk = asterisk(pattern, patternLength);
        if (asterisk < 0) {
            return false;
        }
        int arrow = arrow(pattern, patternLength, asterisk);
        bind(call, pattern, asterisk, arrow, element, elementLength);
        if (call.isToBeFetched(key) || !call.session().find(key, item)) {
            return false;
        }
        if (arrow == patternLength) {
            address = item.valueAddress();
            length = item.valueLength();
            return item.type() == ItemType.STRING;
        }
        return item.type() == ItemType.HASH && findField(call, pattern + arrow + 2, patternLength - arrow - 2);
    }

    private static boolean isElement(long pattern, int patternLength) {
        return patternLength > 0 && Memory.getByte(pattern) == '#'
                && (patternLength == 1 || Memory.getByte(pattern + 1) == 0);
    }

    private void bind(Invocation call, long pattern, int asterisk, int end, long element, int elementLength) {
        int behind = end - asterisk - 1;
        long bytes = asterisk + (long) elementLength + behind;
        name.require(call.cache(), bytes);
        Memory.copy(pattern, name.address(), asterisk);
        Memory.copy(element, name.address() + asterisk, elementLength);
        Memory.copy(pattern + asterisk + 1, name.address() + asterisk + elementLength, behind);
        call.session().bind(key, call.database(), name.address(), (int) bytes);
    }

    private boolean findField(Invocation call, long field, int fieldLength) {
        HashValue hash = HashValue.of(call);
        hash.openAgain(key);
        if (!hash.find(field, fieldLength)) {
            return false;
        }
        address = hash.valueAddress();
        length = hash.valueLength();
        return true;
    }

    /** Where what was found last is. */
    long address() {
        return address;
    }

    int length() {
        return length;
    }

    /** Replies what was found last: a large string goes out of its run without a copy. */
    void reply(Invocation call, int argument) {
        boolean whole = !isElement(call.argumentAddress(argument), call.argumentLength(argument))
                && item.type() == ItemType.STRING;
        if (whole) {
            Values.reply(call, item);
        } else {
            call.reply().bulk(address, length);
        }
    }

    void release() {
        name.release();
    }
}
