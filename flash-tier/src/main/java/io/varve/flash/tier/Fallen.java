package io.varve.flash.tier;

import java.util.Arrays;

import io.varve.flash.record.ItemKey;
import io.varve.flash.record.ItemRecord;

/**
 * An item between memory and flash: the bytes of its key and of its record. Immutable, but that the record's checksum is written
 * before it is stored.
 */
final class Fallen {
    /** Three objects, two arrays and the entry of a map. */
    private static final int OVERHEAD_BYTES = 160;

    private final byte[] recordKey;
    private final byte[] record;

    Fallen(byte[] recordKey, byte[] record) {
        this.recordKey = recordKey;
        this.record = record;
    }

    byte[] recordKey() {
        return recordKey;
    }

    byte[] record() {
        return record;
    }

    /** The same without its value, for who only wants to know that it is. */
    Fallen withoutValue() {
        return new Fallen(recordKey, Arrays.copyOf(record, ItemRecord.VALUE_OFFSET));
    }

    /** What it takes on the heap while it waits, about. */
    int heapBytes() {
        return recordKey.length + record.length + OVERHEAD_BYTES;
    }

    int bytes() {
        return recordKey.length + record.length;
    }

    /** A key on flash, equal to those of the same bytes. Immutable as long as nobody writes into them. */
    static final class Name {
        private final byte[] recordKey;

        Name(byte[] recordKey) {
            this.recordKey = recordKey;
        }

        byte[] recordKey() {
            return recordKey;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Name that && Arrays.equals(recordKey, that.recordKey);
        }

        @Override
        public int hashCode() {
            return (int) ItemKey.placeOf(recordKey);
        }
    }
}
