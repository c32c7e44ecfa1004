package io.varve.memory.collection;

import java.util.function.Consumer;
import java.util.function.IntConsumer;

import io.varve.memory.collection.tree.CountedTree;
import io.varve.memory.collection.tree.Element;
import io.varve.memory.collection.tree.FieldTimeFormat;
import io.varve.memory.collection.tree.HashedFormat;
import io.varve.memory.collection.tree.NodeSpace;
import io.varve.memory.collection.tree.TreeHeader;
import io.varve.memory.collection.tree.TreeIntegrity;
import io.varve.memory.collection.tree.TreePath;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;

/**
 * A large hash, ordered by a seeded hash of its fields. Confined to one thread, which holds the lock of the item's
 * shard: see {@link CollectionTree}.
 *
 * <p>If fields have times, a second tree orders those times ({@link FieldTimeFormat}). It gives the number of due
 * fields at a moment, and the next one to become due. A due field is hidden: {@link #find} does not find it, a walk
 * must skip it ({@link #isDue}), and {@link #visible} does not count it. The expiry cycle removes it later.
 */
public final class HashTree extends HashedTree {
    /** From this size on, a value has a leaf of its own, or nearly so. */
    private static final int LARGE_BYTES = 4096;
    private static final int LARGE_COUNTS = 8;

    private final CountedTree times = new CountedTree(FieldTimeFormat.INSTANCE);
    private final Element record = new Element();
    private final TreePath spot = new TreePath();
    private final RecordOfField recordOf = new RecordOfField();
    private final FieldOfRecord fieldOf = new FieldOfRecord();
    private long nowMillis;
    /** The number of due fields. */
    private long due;

    public HashTree() {
        super(ItemType.HASH, 2, HashedFormat.HASH);
        trees(1);
    }

    /** Sets whether the next collection is created with a tree for times of fields. */
    public void keepTimes(boolean keeps) {
        trees(keeps ? 2 : 1);
    }

    /** Whether the collection has a tree for times of fields. */
    public boolean keepsTimes() {
        return trees() == 2;
    }

    @Override
    public int headerBytes() {
        return keepsTimes() ? TimedHashLayout.TREE_HEADER_BYTES : super.headerBytes();
    }

    @Override
    void openTrees(NodeSpace space, long header) {
        super.openTrees(space, header);
        if (keepsTimes()) {
            times.open(space, TreeHeader.record(header, 1));
        }
        // At time 0 nothing is due, so no search is needed.
        nowMillis = 0;
        due = 0;
    }

    @Override
    void forget() {
        super.forget();
        times.forget();
        asOf(nowMillis);
    }

    @Override
    public void expectManyWrites(boolean manyWrites) {
        super.expectManyWrites(manyWrites);
        times.expectManyWrites(manyWrites);
    }

    @Override
    long nodesFor(int writes) {
        return super.nodesFor(writes) + (keepsTimes() ? times.nodesFor(writes) : 0);
    }

    // --- due fields

    /** Hides fields that are due at this time. */
    @Override
    public void asOf(long millis) {
        nowMillis = millis;
        due = hasTimes() ? countBefore(millis) : 0;
    }

    private long countBefore(long millis) {
        times.seek(record.order(FieldTimeFormat.order(millis, 0), false), spot);
        return times.rank(spot);
    }

    /** Whether any field has a time. */
    public boolean hasTimes() {
        return keepsTimes() && times.count() > 0;
    }

    /** The number of fields that are not due. */
    public long visible() {
        return size() - due;
    }

    /** Whether each field has a time. */
    public boolean allHaveTimes() {
        return hasTimes() && times.count() == size();
    }

    /**
     * Moves to a field that is not due, if {@linkplain #allHaveTimes each has a time}.
     *
     * @param number 0 to {@link #visible} less 1, in the order of the fields' times; each number is a distinct
     *     field; a negative number is a due field, counted from the latest one
     */
    public void seekByTime(long number) {
        spot.forget();
        times.seek(due + number, spot);
        long entry = times.entry(spot);
        long time = FieldTimeFormat.time(entry);
        long hash = FieldTimeFormat.hash(entry);
        // Fields with equal hash and time are distinguished by the number of such entries before them; others may lie
        // between.
        int same = 0;
        while (times.previous(spot) && isLike(times.entry(spot), time, hash)) {
            same += FieldTimeFormat.hash(times.entry(spot)) == hash ? 1 : 0;
        }
        boolean there = fieldOf.find(time, hash);
        for (; there && same > 0; same--) {
            there = fieldOf.findNext(hash);
        }
        assert there : "a field is missing";
        path.copyFrom(fieldOf.path);
        standing(true);
    }

    private static boolean isLike(long entry, long time, long hash) {
        return FieldTimeFormat.INSTANCE.orderAt(entry) == FieldTimeFormat.order(time, hash);
    }

    /** Whether any field is due. */
    public boolean hides() {
        return due > 0;
    }

    /** Whether the field at the position is due. */
    public boolean isDue() {
        return due > 0 && isDue(format.time(entry()));
    }

    private boolean isDue(long time) {
        return time != Item.NEVER && time < nowMillis;
    }

    /** The time of the field at the position, milliseconds since the epoch, or {@link Item#NEVER}. */
    public long time() {
        return format.time(entry());
    }

    /** The earliest time of a field that is not due, or {@link Item#NEVER}. */
    public long earliest() {
        return hasTimes() ? earliest(due) : Item.NEVER;
    }

    private long earliest(long rank) {
        if (rank >= times.count()) {
            return Item.NEVER;
        }
        spot.forget();
        times.seek(rank, spot);
        return FieldTimeFormat.time(times.entry(spot));
    }

    /** The earliest time of all, due or not, or {@link Item#NEVER}. */
    public long earliestOfAll() {
        return hasTimes() ? earliest(0) : Item.NEVER;
    }

    /** Moves to a field; false, and at the end, if it is missing or due. */
    @Override
    public boolean find(long field, int length) {
        return super.find(field, length) && (!isDue() || standing(false));
    }

    // --- writes

    /** Sets a field's value without a time, and moves to it; false if the field existed. */
    public boolean put(long field, int length, long value, int valueLength) {
        return put(field, length, value, valueLength, Item.NEVER);
    }

    /**
     * Sets a field's value and the time from which on it is due, up to {@link TimedHashLayout#LATEST_TIME}, or
     * {@link Item#NEVER}. A time requires {@linkplain #keepTimes a tree} for it.
     *
     * @return false if the field existed and was not due
     */
    public boolean put(long field, int length, long value, int valueLength, long time) {
        long hash = tree.space().hash(field, length);
        boolean there = find(hash, field, length);
        long old = there ? time() : Item.NEVER;
        element.of(hash, field, length, value, valueLength);
        element.time = time;
        boolean enters = time != Item.NEVER && time != old;
        if (enters) {
            FieldTimeFormat.element(record, time, hash);
            times.seek(record, spot);
            times.reserve(record, spot);
        }
        try {
            if (there) {
                replace();
            } else {
                insert();
            }
        } catch (CacheFullException full) {
            if (enters) {
                times.cancel();
            }
            throw full;
        }
        if (enters) {
            times.insertReserved(record, spot);
            due += isDue(time) ? 1 : 0;
        }
        boolean wasDue = isDue(old);
        if (old != Item.NEVER && old != time) {
            removeTime(old, hash);
        }
        return !there || wasDue;
    }

    /** Removes a field's entry from the tree of times. */
    private void removeTime(long time, long hash) {
        boolean there = recordOf.find(time, hash);
        assert there : "a field time is missing";
        times.remove(recordOf.path, 1);
        due -= isDue(time) ? 1 : 0;
    }

    @Override
    public void remove() {
        long time = time();
        long hash = HashedFormat.hash(entry());
        super.remove();
        if (time != Item.NEVER) {
            removeTime(time, hash);
        }
    }

    @Override
    void removeElements(long from, long to) {
        if (!hasTimes()) {
            super.removeElements(from, to);
            return;
        }
        for (long left = to - from; left > 0; left--) {
            seek(from);
            remove();
        }
    }

    /**
     * Removes due fields, in the order of their times; the position is then at the end. Never refused.
     *
     * @param max the most fields to remove; one with a large value, whose memory is freed at once, counts as eight
     * @return the number of removed fields
     */
    public int removeDue(int max) {
        int removed = 0;
        int work = 0;
        while (work < max && due > 0) {
            spot.forget();
            times.seek(0, spot);
            long entry = times.entry(spot);
            boolean there = fieldOf.find(FieldTimeFormat.time(entry), FieldTimeFormat.hash(entry));
            assert there : "a field is missing";
            work += format.valueLength(tree.entry(fieldOf.path)) < LARGE_BYTES ? 1 : LARGE_COUNTS;
            tree.remove(fieldOf.path, 1);
            times.remove(spot, 1);
            due--;
            removed++;
        }
        toEnd();
        return removed;
    }

    /** Searches for a field's entry in the tree of times. Confined to its tree. */
    private final class RecordOfField extends SameHash {
        private long hash;

        RecordOfField() {
            super(times, new TreePath());
        }

        boolean find(long time, long soughtHash) {
            hash = soughtHash;
            return find(FieldTimeFormat.order(time, soughtHash));
        }

        @Override
        boolean matches(long entry) {
            return FieldTimeFormat.hash(entry) == hash;
        }
    }

    /** Searches for a field with a hash and a time; if several match, any of them. Confined to its tree. */
    private final class FieldOfRecord extends SameHash {
        private long time;

        FieldOfRecord() {
            super(tree, new TreePath());
        }

        boolean find(long soughtTime, long hash) {
            time = soughtTime;
            return find(hash);
        }

        @Override
        boolean matches(long entry) {
            return format.time(entry) == time;
        }
    }

    // --- the field at the position

    /** The address of the field at the position. */
    public long fieldAddress() {
        return format.memberAddress(entry());
    }

    /** Bytes of the field at the position. */
    public int fieldLength() {
        return HashedFormat.memberLength(entry());
    }

    /** The address of the value of the field at the position. */
    public long valueAddress() {
        return format.valueAddress(entry());
    }

    /** Bytes of the value of the field at the position. */
    public int valueLength() {
        return format.valueLength(entry());
    }

    // --- integrity

    @Override
    public void checkIntegrity(IntConsumer nodes, Consumer<String> problems) {
        super.checkIntegrity(nodes, problems);
        if (!keepsTimes()) {
            return;
        }
        TreeIntegrity.check(times, nodes, problems);
        long timed = 0;
        for (boolean more = first(); more; more = next()) {
            if (time() != Item.NEVER) {
                timed++;
                if (!recordOf.find(time(), HashedFormat.hash(entry()))) {
                    problems.accept("the index has no time for the field of rank " + rank());
                }
            }
        }
        if (timed != times.count()) {
            problems.accept(timed + " fields have times, but " + times.count() + " recorded");
        }
    }
}
