package io.varve.memory.shard.learning;

import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.locality.partition.ClassCounts;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.penalty.MissMonitor;
import io.varve.memory.penalty.RememberedClasses;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.shard.context.PenaltyTracking;
import io.varve.memory.shard.context.ShardContext;
import org.jspecify.annotations.Nullable;

/**
 * Measures what misses of a shard's keys cost, and assigns its items to penalty classes (pRedis, sections 3.1, 3.2 and
 * 5). Guarded by the shard's lock.
 *
 * <p>An item's class is in its header and moves with it. A write chooses the class; the first known one counts:
 * <ol>
 * <li>the client's hint;
 * <li>the class of the penalty that this write has just ended;
 * <li>the class of the item that it overwrites;
 * <li>the class with which the key's item was evicted, if it is remembered;
 * <li>class 0.
 * </ol> A penalty counts for the class that the item gets and for the class that the key had before. Future misses of a
 * class's present items are estimated by the present misses of similar keys
 * ({@link io.varve.memory.locality.partition.ClassPenalties}). The penalty is counted, and the miss ends, once the item
 * exists. A write that is refused memory and retried later finds the state unchanged.
 *
 * <p>While tracking is off, this class takes no memory and an access reads one field. Items keep their classes.
 */
public final class ShardPenalties {
    /** In place of a hint: there is none. */
    public static final int AUTOMATIC = -1;
    /** In place of a hint: there is no write; the item is restored from the secondary tier. */
    public static final int RESTORED = -2;

    /** In place of a class: there is no item, or its class is unknown. */
    public static final int NO_CLASS = -1;
    /** The longest fill that is measured. */
    private static final long LONGEST_MICROS = MissMonitor.LONGEST_MICROS;
    /** The counts of every shard while tracking is off: nothing counts then, so they stay zero. */
    private static final ClassCounts NO_COUNTS = new ClassCounts(PenaltyRanges.MAX_CLASSES);

    private final ShardContext context;
    /** The settings of {@link ShardContext#tracking} that this shard follows, as far as it got memory for them. */
    private @Nullable PenaltyTracking followed;
    private @Nullable MissMonitor monitor;
    private @Nullable RememberedClasses remembered;
    /** Receives accesses while demand is watched. */
    private @Nullable ShardDemand demand;
    /** Whether {@link #classOfWrite} has prepared a write that {@link #written} has not completed. */
    private boolean writes;
    /** Whether there was no item before that write. */
    private boolean writesNew;
    private long writtenHash;
    private long waitedMicros = MissMonitor.NONE;
    private int writtenAs;
    /** The class with which the key was evicted, if it is remembered. */
    private int knownAs;
    private int missClass;
    private int misses;
    /** {@link #NO_COUNTS} while {@link #followed} is null. */
    private ClassCounts counts = NO_COUNTS;

    public ShardPenalties(ShardContext context) {
        this.context = context;
        settle();
    }

    /**
     * Allocates or frees the memory that tracking needs here.
     *
     * @return false if memory was refused: the caller must retry
     */
    public boolean settle() {
        PenaltyTracking wanted = context.tracking();
        if (wanted == null || followed == null || followed.begun() != wanted.begun()) {
            counts = wanted == null ? NO_COUNTS : new ClassCounts(PenaltyRanges.MAX_CLASSES);
            release();
        }
        followed = wanted;
        long monitorBytes = wanted == null ? 0 : wanted.monitorBytes();
        if (monitor != null && monitor.bytes() != monitorBytes) {
            monitor.close();
            monitor = null;
        }
        if (monitor == null && monitorBytes != 0) {
            monitor = MissMonitor.open(monitorBytes, LONGEST_MICROS, context.ticker, context.regions, context.budget);
        }
        long rememberedBytes = wanted == null ? 0 : wanted.rememberedBytes();
        if (remembered != null && remembered.bytes() != rememberedBytes) {
            remembered.close();
            remembered = null;
        }
        if (remembered == null && rememberedBytes != 0) {
            remembered = RememberedClasses.open(rememberedBytes, context.regions, context.budget);
        }
        return isSettled();
    }

    /** Whether this shard has all the memory that tracking needs, or none if it is off. */
    public boolean isSettled() {
        PenaltyTracking wanted = context.tracking();
        return wanted == null
                ? followed == null
                : wanted.equals(followed) && (monitor != null || wanted.monitorBytes() == 0)
                        && (remembered != null || wanted.rememberedBytes() == 0);
    }

    /** Counts a client's read of an item, or its miss. */
    public void read(Key key, Item item, boolean found, boolean awaitFill) {
        if (followed != null) {
            int penaltyClass;
            if (found) {
                penaltyClass = ItemLayout.penaltyClassOf(item.header());
                counts.hit(penaltyClass);
            } else {
                penaltyClass = missed(hash(key), awaitFill);
            }
            ShardDemand watched = demand;
            if (watched != null && penaltyClass != NO_CLASS) {
                // If the class of a miss is unknown, the write that follows reports it.
                watched.read(hash(key), penaltyClass, found);
            }
        }
    }

    /** @return the class of the key, or {@link #NO_CLASS} */
    private int missed(long hash, boolean awaitFill) {
        // If this is wrong, the write that follows corrects it.
        int penaltyClass = rememberedClass(hash);
        if (awaitFill && monitor != null) {
            monitor.missed(hash, Math.max(0, penaltyClass));
        }
        counts.miss(Math.max(0, penaltyClass));
        return penaltyClass;
    }

    /** Counts a write to a found item in place. */
    public void writtenInPlace(Item item) {
        if (followed != null) {
            int penaltyClass = ItemLayout.penaltyClassOf(item.header());
            counts.write(penaltyClass);
            ShardDemand watched = demand;
            if (watched != null) {
                long keyHash = context.keyHash.hash(item.keyAddress(), item.keyLength());
                watched.write(AccessedKey.hash(keyHash, ItemLayout.database(item.address())), penaltyClass,
                        false);
            }
        }
    }

    /**
     * The class of the item that a write is about to create or overwrite. {@link #written} counts the write and the
     * penalty that it ends.
     *
     * @param before the class of the item that it overwrites; {@link #NO_CLASS} if there is none
     * @param hint the class that the client has named, {@link #AUTOMATIC} or {@link #RESTORED}
     */
    public int classOfWrite(Key key, int before, int hint) {
        PenaltyTracking tracking = followed;
        if (tracking != null) {
            return classOfWrite(hash(key), before, hint, tracking.ranges());
        }
        // A shard that was held when tracking began counts nothing yet, but a named class takes effect.
        PenaltyTracking begun = context.tracking();
        return begun != null && hint >= 0 ? Math.min(hint, begun.ranges().classes() - 1) : Math.max(0, before);
    }

    /**
     * The class for which the misses that the last write ended were counted. It differs from the item's class if that
     * was unknown; {@link #written} moves the counts. It is the item's class if there were no misses.
     */
    public int missClass(int itemClass) {
        return followed == null ? itemClass : missClass;
    }

    /** The number of misses that the last write has ended, as far as they were counted separately. */
    public int misses() {
        return misses;
    }

    private int classOfWrite(long hash, int before, int hint, PenaltyRanges ranges) {
        MissMonitor missMonitor = monitor;
        // If there is an item, the write that created it has ended the miss before it.
        long micros = before != NO_CLASS || missMonitor == null ? MissMonitor.NONE : missMonitor.missAgeMicros(hash);
        int chosen;
        if (hint != AUTOMATIC && hint != RESTORED) {
            chosen = Math.min(hint, ranges.classes() - 1);
        } else if (micros != MissMonitor.NONE && hint != RESTORED) {
            chosen = ranges.classOf(micros);
        } else {
            chosen = Math.max(0, before == NO_CLASS ? rememberedClass(hash) : before);
        }
        // Restoring an item is no write that ends a miss, and the cost of fetching is no penalty.
        writes = hint != RESTORED;
        writesNew = before == NO_CLASS;
        writtenHash = hash;
        waitedMicros = micros;
        writtenAs = chosen;
        knownAs = micros == MissMonitor.NONE ? NO_CLASS : rememberedClass(hash);
        missClass = micros == MissMonitor.NONE || missMonitor == null ? chosen : missMonitor.missClass();
        misses = micros == MissMonitor.NONE || missMonitor == null ? 0 : missMonitor.misses();
        return chosen;
    }

    /** Completes the write that {@link #classOfWrite} prepared. */
    public void written() {
        if (followed == null) {
            return;
        }
        if (waitedMicros != MissMonitor.NONE && monitor != null) {
            monitor.end();
        }
        if (writes) {
            counts.write(writtenAs);
            ShardDemand watched = demand;
            if (watched != null) {
                watched.write(writtenHash, writtenAs, writesNew);
            }
            if (waitedMicros != MissMonitor.NONE) {
                counts.penalty(writtenAs, knownAs, waitedMicros);
                counts.moveMisses(missClass, writtenAs, misses);
            }
        }
        writes = false;
        waitedMicros = MissMonitor.NONE;
    }

    /**
     * Records an item that was restored from the secondary tier.
     *
     * @param demotedAs the class with which it was demoted, or a negative number if it is unknown
     * @param defaultClass the class that it was given in default of a better one
     * @return the class that it gets
     */
    public int restored(Key key, int demotedAs, int defaultClass) {
        // It may have been demoted before a restart, when there were more classes.
        int penaltyClass = demotedAs < 0 ? defaultClass : Math.min(demotedAs, context.settings().classes() - 1);
        if (demand != null) {
            demand.fetched(hash(key), penaltyClass);
        }
        return penaltyClass;
    }

    /** Sets the receiver of accesses; null for none. */
    public void demand(@Nullable ShardDemand watching) {
        demand = watching;
    }

    /** Remembers the class of an evicted item's key. */
    public void evicted(long keyHash, int physical, int penaltyClass) {
        if (remembered != null) {
            remembered.remember(AccessedKey.hash(keyHash, physical), penaltyClass);
        }
    }

    /** The class of a key without an item, 0 if it is unknown. */
    public int classOfAbsent(Key key) {
        return Math.max(0, rememberedClass(hash(key)));
    }

    private int rememberedClass(long hash) {
        // Remembered classes err upwards and always range over sixteen classes.
        return remembered == null ? NO_CLASS : Math.min(remembered.classOf(hash), context.settings().classes() - 1);
    }

    private long hash(Key key) {
        return AccessedKey.hash(key.hash(), context.databases.physical(key.database()));
    }

    /** Adds the counts since tracking began. */
    public void addTo(ClassCounts sum) {
        counts.addTo(sum);
    }

    public long rememberedKeys() {
        return remembered == null ? 0 : remembered.keys();
    }

    /** The memory charged for tracking here. */
    public long bytes() {
        return (monitor == null ? 0 : monitor.bytes()) + (remembered == null ? 0 : remembered.bytes());
    }

    /** Frees all memory. */
    public void release() {
        if (monitor != null) {
            monitor.close();
            monitor = null;
        }
        if (remembered != null) {
            remembered.close();
            remembered = null;
        }
    }
}
