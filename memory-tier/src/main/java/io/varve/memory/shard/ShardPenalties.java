package io.varve.memory.shard;

import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.locality.ClassCounts;
import io.varve.memory.locality.PenaltyRanges;
import io.varve.memory.penalty.MissMonitor;
import io.varve.memory.penalty.RememberedClasses;
import io.varve.memory.segment.ItemLayout;
import org.jspecify.annotations.Nullable;

/**
 * What misses of a shard's keys cost, and to which class of penalty its items belong (pRedis, sections 3.1, 3.2 and 5). Guarded by the shard's
 * lock.
 *
 * <p>An item's class stands in its header and goes with it wherever it is moved. A write decides which it is; the first that is known
 * counts:
 * <ol>
 * <li>the client's hint;
 * <li>the class of the penalty that this write has just ended;
 * <li>that of the item which it writes over;
 * <li>that with which the key's item was evicted, as far as it is remembered;
 * <li>the first.
 * </ol>
 * A penalty is counted for the class that the item gets, and for that of which the key was before: of what a class has in memory the misses to come cost what
 * those of its like do now ({@link io.varve.memory.locality.ClassPenalties}). It is counted, and the miss ends, when the item is there: a write that is refused memory, and is tried again when there is room, finds everything as it was.
 *
 * <p>While tracking is off nothing of this takes memory, and each access asks one field. Classes that items have stay where they are.
 */
public final class ShardPenalties {
    /** In place of a hint: there is none. */
    public static final int AUTOMATIC = -1;
    /** In place of a hint: nobody writes, the item comes back from the tier below. */
    static final int RESTORED = -2;

    /** In place of a class: there is no item, or nobody knows. */
    static final int NO_CLASS = -1;
    /** Longer than that no fill takes that is worth measuring. */
    private static final long LONGEST_MICROS = MissMonitor.LONGEST_MICROS;

    private final ShardContext context;
    /** What this shard has for {@link ShardContext#tracking}, as far as it got memory for it. */
    private @Nullable PenaltyTracking followed;
    private @Nullable MissMonitor monitor;
    private @Nullable RememberedClasses remembered;
    /** Whom accesses are told while demand is watched. */
    private @Nullable ShardDemand demand;
    /** The write that {@link #classOfWrite} was asked for last, until it is {@link #written}. */
    private boolean writes;
    /** And whether there was no item before it. */
    private boolean writesNew;
    private long writtenHash;
    private long waitedMicros = MissMonitor.NONE;
    private int writtenAs;
    /** The class with which the key was evicted, as far as it is remembered. */
    private int knownAs;
    private int missedAs;
    private int misses;
    private ClassCounts counts = new ClassCounts(PenaltyRanges.MOST);

    ShardPenalties(ShardContext context) {
        this.context = context;
        settle();
    }

    /**
     * Takes the memory that tracking needs here, or gives it back.
     *
     * @return false if memory was refused: to be tried again
     */
    public boolean settle() {
        PenaltyTracking wanted = context.tracking;
        if (wanted == null || followed == null || followed.begun() != wanted.begun()) {
            counts = new ClassCounts(PenaltyRanges.MOST);
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

    /** Whether this shard has all that tracking needs, or nothing if it is off. */
    public boolean isSettled() {
        PenaltyTracking wanted = context.tracking;
        return wanted == null
                ? followed == null
                : wanted.equals(followed) && (monitor != null || wanted.monitorBytes() == 0)
                        && (remembered != null || wanted.rememberedBytes() == 0);
    }

    /** A read by a client has found an item, or nothing. */
    void read(Key key, Item item, boolean found, boolean awaitFill) {
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
                // Of a miss of which nobody knows the class, the write that follows tells.
                watched.read(hash(key), penaltyClass, found);
            }
        }
    }

    /** @return the class of the key, if it is known */
    private int missed(long hash, boolean awaitFill) {
        // Where that is wrong, the write that follows tells.
        int penaltyClass = rememberedClass(hash);
        if (awaitFill && monitor != null) {
            monitor.missed(hash, Math.max(0, penaltyClass));
        }
        counts.miss(Math.max(0, penaltyClass));
        return penaltyClass;
    }

    /** A found item is written to where it lies. */
    public void wrote(Item item) {
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
     * The class of the item that a write is about to make, or to write over. The write and the penalty that it ends are counted by
     * {@link #written}.
     *
     * @param before that of the item that it writes over; {@link #NO_CLASS} if there is none
     * @param hint   the class that the client has named, {@link #AUTOMATIC} or {@link #RESTORED}
     */
    int classOfWrite(Key key, int before, int hint) {
        PenaltyTracking tracking = followed;
        if (tracking != null) {
            return classOfWrite(hash(key), before, hint, tracking.ranges());
        }
        // A shard that was held when tracking began counts nothing yet, but who names a class is heard.
        PenaltyTracking begun = context.tracking;
        return begun != null && hint >= 0 ? Math.min(hint, begun.ranges().classes() - 1) : Math.max(0, before);
    }

    /**
     * For which class the misses were counted that the last write has ended: another than that of its item, where nobody knew better. They are counted for
     * the item's class from then on. That of the item if there was none.
     */
    public int missedAs(int itemClass) {
        return followed == null ? itemClass : missedAs;
    }

    /** How many misses the last write has ended, as far as they are counted apart. */
    public int misses() {
        return misses;
    }

    private int classOfWrite(long hash, int before, int hint, PenaltyRanges ranges) {
        MissMonitor waiting = monitor;
        // Where there is an item, the write that made it has ended the miss before it.
        long micros = before != NO_CLASS || waiting == null ? MissMonitor.NONE : waiting.waited(hash);
        int chosen;
        if (hint != AUTOMATIC && hint != RESTORED) {
            chosen = Math.min(hint, ranges.classes() - 1);
        } else if (micros != MissMonitor.NONE && hint != RESTORED) {
            chosen = ranges.classOf(micros);
        } else {
            chosen = Math.max(0, before == NO_CLASS ? rememberedClass(hash) : before);
        }
        // What comes back from the tier below ends no miss by a write, and what fetching has cost is no penalty.
        writes = hint != RESTORED;
        writesNew = before == NO_CLASS;
        writtenHash = hash;
        waitedMicros = micros;
        writtenAs = chosen;
        knownAs = micros == MissMonitor.NONE ? NO_CLASS : rememberedClass(hash);
        missedAs = micros == MissMonitor.NONE || waiting == null ? chosen : waiting.missedAs();
        misses = micros == MissMonitor.NONE || waiting == null ? 0 : waiting.misses();
        return chosen;
    }

    /** What {@link #classOfWrite} was asked for last is done. */
    void written() {
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
                counts.moveMisses(missedAs, writtenAs, misses);
            }
        }
        writes = false;
        waitedMicros = MissMonitor.NONE;
    }

    /**
     * An item has come back from the tier below.
     *
     * @param told   the class with which it fell, or less than 0 if that is not known
     * @param placed the class that it was given for want of a better one
     * @return the class that it is to have
     */
    int restored(Key key, int told, int placed) {
        // It may have fallen when there were more classes, before a restart.
        int penaltyClass = told < 0 ? placed : Math.min(told, context.classes - 1);
        if (demand != null) {
            demand.fetched(hash(key), penaltyClass);
        }
        return penaltyClass;
    }

    /** Tells accesses from now on; null: nobody. */
    public void demand(@Nullable ShardDemand watching) {
        demand = watching;
    }

    public @Nullable ShardDemand demand() {
        return demand;
    }

    /** An item leaves memory under pressure: its key's class is remembered. */
    void evicted(long keyHash, int physical, int penaltyClass) {
        if (remembered != null) {
            remembered.remember(AccessedKey.hash(keyHash, physical), penaltyClass);
        }
    }

    /** The class of a key that has no item, 0 if it is not known. */
    public int classOfGone(Key key) {
        return Math.max(0, rememberedClass(hash(key)));
    }

    private int rememberedClass(long hash) {
        // What is remembered errs upwards, and knows sixteen classes however many there are.
        return remembered == null ? NO_CLASS : Math.min(remembered.classOf(hash), context.classes - 1);
    }

    private long hash(Key key) {
        return AccessedKey.hash(key.hash(), context.databases.physical(key.database()));
    }

    /** Adds what was counted since penalties are tracked. */
    public void addTo(ClassCounts sum) {
        counts.addTo(sum);
    }

    public long rememberedKeys() {
        return remembered == null ? 0 : remembered.keys();
    }

    /** What is charged for tracking here. */
    public long bytes() {
        return (monitor == null ? 0 : monitor.bytes()) + (remembered == null ? 0 : remembered.bytes());
    }

    /** Gives all memory back. */
    void release() {
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
