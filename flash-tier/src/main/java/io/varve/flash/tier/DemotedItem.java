package io.varve.flash.tier;

import java.util.Arrays;

import io.varve.flash.record.ItemKey;
import io.varve.flash.record.ItemRecord;

/**
 * An item in transit between memory and flash: the bytes of its key and of its record. Immutable, except that the
 * record's checksum is written before it is stored.
 */
final class DemotedItem {
    /** Heap bytes of three objects, two array headers and the map entry. */
    private static final int OVERHEAD_BYTES = 160;

    private final byte[] recordKey;
    private final byte[] record;

    DemotedItem(byte[] recordKey, byte[] record) {
        this.recordKey = recordKey;
        this.record = record;
    }

    byte[] recordKey() {
        return recordKey;
    }

    byte[] record() {
        return record;
    }

    /** A copy without its value, for readers of metadata. */
    DemotedItem withoutValue() {
        return new DemotedItem(recordKey, Arrays.copyOf(record, ItemRecord.valueOffset(record)));
    }

    /** Approximate heap bytes while it is queued. */
    int heapBytes() {
        return recordKey.length + record.length + OVERHEAD_BYTES;
    }

    int bytes() {
        return recordKey.length + record.length;
    }

    /** A key on flash, compared by its bytes. Immutable as long as no caller writes into them. */
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
