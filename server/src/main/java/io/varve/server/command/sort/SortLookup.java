package io.varve.server.command.sort;

import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.hash.HashValue;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.value.WorkMemory;

/**
 * Looks up the values of SORT's BY and GET. Confined to its event loop; reused from command to command, while the
 * shards of all keys are locked. An element replaces the pattern's asterisk, which gives a key; a field may follow
 * after an arrow.
 */
final class SortLookup {
    private final WorkMemory name = new WorkMemory();
    private final Key key = new Key();
    private final Item item = new Item();
    private long address;
    private int length;

    /** Whether the argument contains an asterisk. As in Redis, a zero byte ends the search for it. */
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

    /** Position of the arrow before a field; the pattern's end if there is none, or no field follows it. */
    private static int arrow(long pattern, int patternLength, int asterisk) {
        for (int i = asterisk + 1; i + 2 < patternLength && Memory.getByte(pattern + i) != 0; i++) {
            if (Memory.getByte(pattern + i) == '-' && Memory.getByte(pattern + i + 1) == '>') {
                return Memory.getByte(pattern + i + 2) == 0 ? patternLength : i;
            }
        }
        return patternLength;
    }

    /**
     * Looks up the value of a pattern for an element.
     *
     * @return whether it exists; {@link #address} and {@link #length} are then valid as long as the locks are held. A
     *     value that has to be fetched from flash first counts as missing
     */
    boolean find(CommandContext context, int argument, long element, int elementLength) {
        long pattern = context.argumentAddress(argument);
        int patternLength = context.argumentLength(argument);
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
        bind(context, pattern, asterisk, arrow, element, elementLength);
        if (context.deferIfOnFlash(key) || !context.session().find(key, item)) {
            return false;
        }
        if (arrow == patternLength) {
            address = item.valueAddress();
            length = item.valueLength();
            return item.type() == ItemType.STRING;
        }
        return item.type() == ItemType.HASH && findField(context, pattern + arrow + 2, patternLength - arrow - 2);
    }

    private static boolean isElement(long pattern, int patternLength) {
        return patternLength > 0 && Memory.getByte(pattern) == '#'
                && (patternLength == 1 || Memory.getByte(pattern + 1) == 0);
    }

    private void bind(CommandContext context, long pattern, int asterisk, int end, long element, int elementLength) {
        int behind = end - asterisk - 1;
        long bytes = asterisk + (long) elementLength + behind;
        name.require(context.cache(), bytes);
        Memory.copy(pattern, name.address(), asterisk);
        Memory.copy(element, name.address() + asterisk, elementLength);
        Memory.copy(pattern + asterisk + 1, name.address() + asterisk + elementLength, behind);
        context.session().bind(key, context.database(), name.address(), (int) bytes);
    }

    private boolean findField(CommandContext context, long field, int fieldLength) {
        HashValue hash = HashValue.of(context);
        hash.openAgain(key);
        if (!hash.find(field, fieldLength)) {
            return false;
        }
        address = hash.valueAddress();
        length = hash.valueLength();
        return true;
    }

    /** Address of the last value found. */
    long address() {
        return address;
    }

    int length() {
        return length;
    }

    /** Replies the last value found: a large string is sent from its run without a copy. */
    void reply(CommandContext context, int argument) {
        boolean whole = !isElement(context.argumentAddress(argument), context.argumentLength(argument))
                && item.type() == ItemType.STRING;
        if (whole) {
            context.replyValue(item);
        } else {
            context.reply().bulk(address, length);
        }
    }

    void release() {
        name.release();
    }
}
