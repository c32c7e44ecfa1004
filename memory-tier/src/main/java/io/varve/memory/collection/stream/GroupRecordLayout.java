package io.varve.memory.collection.stream;

import io.varve.memory.offheap.Memory;

/**
 * The byte layout of the records of a stream's groups: ordered keys of five kinds, and their values. The first three
 * kinds are in one tree, the other two in one each. Immutable: static methods only; writers hold the lock of the item's
 * shard.
 *
 * <pre>
 *  kind                 key, big-endian                                        value
 *  GROUP                kind 1, name                                           id 4, last ID 16, entries read 8
 *  CONSUMER             kind 1, group 4, name                                  id 4, seen time 8, active time 8
 *  NAME                 kind 1, group 4, consumer 4                            the consumer's name
 *  PENDING              head 8: kind 3 bits, group 8, ms 42, seq 11            consumer 4, time 8, deliveries 8
 *  OWNED                head 8: kind 3 bits, group 6, consumer 8, ms 42, seq 5 nothing
 * </pre>
 *
 * <p>The kind is in the top three bits of the first byte. PENDING has an entry that a group has delivered and not
 * acknowledged, under its ID. OWNED has it once more, under its consumer. If a number does not fit the head, then its
 * bits and all lower ones are ones, and the complete numbers follow: group 4, consumer 4, ms 8, seq 8. So the first
 * eight bytes nearly always tell keys apart, and unsigned order of bytes is the order of the numbers.
 */
public final class GroupRecordLayout {
    public static final int GROUP = 0;
    public static final int CONSUMER = 1;
    public static final int NAME = 2;
    public static final int PENDING = 3;
    public static final int OWNED = 4;

    /** The most bytes of a key without a name. */
    public static final int MAX_NUMBERS_BYTES = 32;
    /** The most bytes of a key beyond a name. */
    public static final int BEFORE_NAME_BYTES = Byte.BYTES + Integer.BYTES;

    private static final int KIND_BITS = 3;
    private static final int KIND_SHIFT = Byte.SIZE - KIND_BITS;
    private static final int HEAD_BYTES = Long.BYTES;
    private static final int MS_BITS = 42;
    private static final int PENDING_GROUP_BITS = 8;
    private static final int PENDING_SEQ_BITS = Long.SIZE - KIND_BITS - PENDING_GROUP_BITS - MS_BITS;
    private static final int OWNED_GROUP_BITS = 6;
    private static final int OWNED_CONSUMER_BITS = 8;
    private static final int OWNED_SEQ_BITS = Long.SIZE - KIND_BITS - OWNED_GROUP_BITS - OWNED_CONSUMER_BITS - MS_BITS;

    /** Behind the head, if a number does not fit it. */
    private static final int TAIL_GROUP = HEAD_BYTES;
    private static final int TAIL_CONSUMER = TAIL_GROUP + Integer.BYTES;
    private static final int TAIL_MS = TAIL_CONSUMER + Integer.BYTES;
    private static final int TAIL_SEQ = TAIL_MS + Long.BYTES;
    private static final int LONG_BYTES = TAIL_SEQ + Long.BYTES;

    private static final int GROUP_OF_NAME = Byte.BYTES;
    private static final int CONSUMER_OF_NAME = GROUP_OF_NAME + Integer.BYTES;

    private static final int GROUP_ID = 0;
    private static final int GROUP_LAST_MS = GROUP_ID + Integer.BYTES;
    private static final int GROUP_LAST_SEQ = GROUP_LAST_MS + Long.BYTES;
    private static final int GROUP_READ = GROUP_LAST_SEQ + Long.BYTES;
    public static final int GROUP_BYTES = GROUP_READ + Long.BYTES;

    private static final int CONSUMER_ID = 0;
    private static final int CONSUMER_SEEN = CONSUMER_ID + Integer.BYTES;
    private static final int CONSUMER_ACTIVE = CONSUMER_SEEN + Long.BYTES;
    public static final int CONSUMER_BYTES = CONSUMER_ACTIVE + Long.BYTES;

    private static final int PENDING_CONSUMER = 0;
    private static final int PENDING_TIME = PENDING_CONSUMER + Integer.BYTES;
    private static final int PENDING_DELIVERIES = PENDING_TIME + Long.BYTES;
    public static final int PENDING_BYTES = PENDING_DELIVERIES + Long.BYTES;

    private GroupRecordLayout() {}

    // --- keys

    /** Writes the key of a group; an empty name gives the position before all groups. Returns its length. */
    public static int group(long key, long name, int nameLength) {
        kindByte(key, GROUP);
        Memory.copy(name, key + Byte.BYTES, nameLength);
        return Byte.BYTES + nameLength;
    }

    /** Writes the key of a consumer; an empty name gives the position before all of the group. Returns its length. */
    public static int consumer(long key, int group, long name, int nameLength) {
        kindByte(key, CONSUMER);
        bigInt(key + GROUP_OF_NAME, group);
        Memory.copy(name, key + BEFORE_NAME_BYTES, nameLength);
        return BEFORE_NAME_BYTES + nameLength;
    }

    /** Writes the key under which a consumer's name is; returns its length. */
    public static int name(long key, int group, int consumer) {
        kindByte(key, NAME);
        bigInt(key + GROUP_OF_NAME, group);
        bigInt(key + CONSUMER_OF_NAME, consumer);
        return CONSUMER_OF_NAME + Integer.BYTES;
    }

    /** Writes the key of a group's pending entry; returns its length. */
    public static int pending(long key, int group, long ms, long seq) {
        Head head = Head.of(PENDING).add(group, PENDING_GROUP_BITS).add(ms, MS_BITS).add(seq, PENDING_SEQ_BITS);
        return finish(key, head, group, 0, ms, seq);
    }

    /** Writes the key of a consumer's pending entry; returns its length. */
    public static int owned(long key, int group, int consumer, long ms, long seq) {
        Head head = Head.of(OWNED).add(group, OWNED_GROUP_BITS).add(consumer, OWNED_CONSUMER_BITS).add(ms, MS_BITS)
                .add(seq, OWNED_SEQ_BITS);
        return finish(key, head, group, consumer, ms, seq);
    }

    /** The head of a key with numbers, as far as they were added. Immutable. */
    private record Head(long bits, int left, boolean isExact) {
        static Head of(int kind) {
            return new Head((long) kind << Long.SIZE - KIND_BITS, Long.SIZE - KIND_BITS, true);
        }

        Head add(long number, int width) {
            int rest = left - width;
            long mask = (1L << width) - 1;
            boolean fits = isExact && Long.compareUnsigned(number, mask) < 0;
            return new Head(bits | (fits ? number : mask) << rest, rest, fits);
        }
    }

    private static int finish(long key, Head head, int group, int consumer, long ms, long seq) {
        bigLong(key, head.bits);
        if (head.isExact) {
            return HEAD_BYTES;
        }
        bigInt(key + TAIL_GROUP, group);
        bigInt(key + TAIL_CONSUMER, consumer);
        bigLong(key + TAIL_MS, ms);
        bigLong(key + TAIL_SEQ, seq);
        return LONG_BYTES;
    }

    private static void kindByte(long key, int kind) {
        Memory.putByte(key, (byte) (kind << KIND_SHIFT));
    }

    /** The kind of a key. */
    public static int kind(long key) {
        return (Memory.getByte(key) & 0xFF) >>> KIND_SHIFT;
    }

    /** The group of a key that is not itself a group's. */
    public static int groupOf(long key, int length) {
        return switch (kind(key)) {
            case CONSUMER, NAME -> Integer.reverseBytes(Memory.getInt(key + GROUP_OF_NAME));
            case PENDING -> length == HEAD_BYTES
                    ? (int) bits(key, MS_BITS + PENDING_SEQ_BITS, PENDING_GROUP_BITS)
                    : tailInt(key, TAIL_GROUP);
            case OWNED -> length == HEAD_BYTES
                    ? (int) bits(key, OWNED_CONSUMER_BITS + MS_BITS + OWNED_SEQ_BITS, OWNED_GROUP_BITS)
                    : tailInt(key, TAIL_GROUP);
            default -> throw new IllegalArgumentException("The key of a group belongs to no other");
        };
    }

    /** The consumer of a key of the kind NAME or OWNED. */
    public static int consumerOf(long key, int length) {
        if (kind(key) == NAME) {
            return Integer.reverseBytes(Memory.getInt(key + CONSUMER_OF_NAME));
        }
        return length == HEAD_BYTES
                ? (int) bits(key, MS_BITS + OWNED_SEQ_BITS, OWNED_CONSUMER_BITS)
                : tailInt(key, TAIL_CONSUMER);
    }

    /** The milliseconds of the ID in a key of the kind PENDING or OWNED. */
    public static long ms(long key, int length) {
        return length == HEAD_BYTES ? bits(key, seqBits(key), MS_BITS) : tailLong(key, TAIL_MS);
    }

    /** The sequence number of the ID in a key of the kind PENDING or OWNED. */
    public static long seq(long key, int length) {
        return length == HEAD_BYTES ? bits(key, 0, seqBits(key)) : tailLong(key, TAIL_SEQ);
    }

    /** The offset of the name in a key of the kind GROUP or CONSUMER. */
    public static int nameOffset(long key) {
        return kind(key) == GROUP ? Byte.BYTES : BEFORE_NAME_BYTES;
    }

    private static int seqBits(long key) {
        return kind(key) == PENDING ? PENDING_SEQ_BITS : OWNED_SEQ_BITS;
    }

    private static long bits(long key, int shift, int width) {
        return Long.reverseBytes(Memory.getLong(key)) >>> shift & (1L << width) - 1;
    }

    private static int tailInt(long key, int offset) {
        return Integer.reverseBytes(Memory.getInt(key + offset));
    }

    private static long tailLong(long key, int offset) {
        return Long.reverseBytes(Memory.getLong(key + offset));
    }

    private static void bigInt(long address, int value) {
        Memory.putInt(address, Integer.reverseBytes(value));
    }

    private static void bigLong(long address, long value) {
        Memory.putLong(address, Long.reverseBytes(value));
    }

    // --- values

    /** Writes the value of a group. */
    public static void groupValue(long value, int id, long lastMs, long lastSeq, long entriesRead) {
        Memory.putInt(value + GROUP_ID, id);
        lastId(value, lastMs, lastSeq);
        entriesRead(value, entriesRead);
    }

    /** The number of a group. */
    public static int groupId(long value) {
        return Memory.getInt(value + GROUP_ID);
    }

    public static long lastMs(long value) {
        return Memory.getLong(value + GROUP_LAST_MS);
    }

    public static long lastSeq(long value) {
        return Memory.getLong(value + GROUP_LAST_SEQ);
    }

    public static void lastId(long value, long ms, long seq) {
        Memory.putLong(value + GROUP_LAST_MS, ms);
        Memory.putLong(value + GROUP_LAST_SEQ, seq);
    }

    /** The logical number of entries that a group has read, -1 if unknown. */
    public static long entriesRead(long value) {
        return Memory.getLong(value + GROUP_READ);
    }

    public static void entriesRead(long value, long entriesRead) {
        Memory.putLong(value + GROUP_READ, entriesRead);
    }

    /** Writes the value of a consumer. */
    public static void consumerValue(long value, int id, long seenMillis, long activeMillis) {
        Memory.putInt(value + CONSUMER_ID, id);
        seenMillis(value, seenMillis);
        activeMillis(value, activeMillis);
    }

    /** The number of a consumer. */
    public static int consumerId(long value) {
        return Memory.getInt(value + CONSUMER_ID);
    }

    public static long seenMillis(long value) {
        return Memory.getLong(value + CONSUMER_SEEN);
    }

    public static void seenMillis(long value, long millis) {
        Memory.putLong(value + CONSUMER_SEEN, millis);
    }

    /** The time of a consumer's last successful interaction, -1 if there was none. */
    public static long activeMillis(long value) {
        return Memory.getLong(value + CONSUMER_ACTIVE);
    }

    public static void activeMillis(long value, long millis) {
        Memory.putLong(value + CONSUMER_ACTIVE, millis);
    }

    /** Writes the value of a pending entry. */
    public static void pendingValue(long value, int consumer, long deliveredMillis, long deliveries) {
        Memory.putInt(value + PENDING_CONSUMER, consumer);
        Memory.putLong(value + PENDING_TIME, deliveredMillis);
        Memory.putLong(value + PENDING_DELIVERIES, deliveries);
    }

    /** The number of the consumer that has a pending entry. */
    public static int pendingConsumer(long value) {
        return Memory.getInt(value + PENDING_CONSUMER);
    }

    public static long deliveredMillis(long value) {
        return Memory.getLong(value + PENDING_TIME);
    }

    public static long deliveries(long value) {
        return Memory.getLong(value + PENDING_DELIVERIES);
    }
}
