package io.varve.memory.expiry;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.varve.memory.item.CacheFullException;

/**
 * Time buckets with far levels: every item is found by its time, none by sampling. Guarded by the shard's lock.
 *
 * <p>Level 0 is the paper's ring of time buckets [1]. Its weakness there is an item whose bucket holds another time:
 * the paper leaves it to sampling. Here such an item waits in a far level. Each level is a ring like level 0 whose
 * buckets are NUM_BUCKETS times wider, as in hierarchical timing wheels [2], and the last is so wide that any 48-bit
 * time has a bucket of its own there:
 *
 * <pre>
 *   BASE 1 s, NUM_BUCKETS 4; the clock stands at 21 s
 *
 *   level 0, 1 s      | 24 | 21 | 22 | 23 |         21 s up to 25 s
 *   level 1, 4 s      |  8 |  - |  6 |  7 |         25 s up to 36 s; time 6 begins at 24 s
 *   level 2, 16 s     |  4 |  - |  2 |  3 |         36 s up to 80 s; time 2 begins at 32 s
 *   ...
 *   waiting           { already past, or every bucket taken }
 * </pre>
 *
 * <p>An item is put on the finest level whose ring reaches it. On a far level it is always put into a period that has
 * not begun. When the period begins, the cycle empties its bucket: each item falls to a finer level, or expires if the
 * cycle came late. So it moves at most once per level, and on level 0 it expires with its whole bucket, within BASE and
 * a cycle of its time. Two times of one level never meet in a bucket while both lie within its reach.
 *
 * <p>An item whose time is put off stays where it is. When the old time comes, the cycle reads the item, as it does to
 * let it go, sees that it has longer, and puts it where it belongs. So a key that is written again and again with a TTL
 * costs one placing for each TTL, not one for each write. A time that is brought forward moves the entry at once.
 *
 * <p>They do meet when cycles lag, or the clock has been set back: a bucket then holds a time that the ring, seen from
 * now, does not reach. An item that finds its bucket so taken tries the next coarser level, and, where that level's
 * period has already begun, the waiting cell. The cycle undoes this: what is due goes first, then buckets that lie
 * beyond the reach are lifted to a coarser level, then the waiting are placed again. After one whole cycle all buckets
 * are within reach. Nothing is lost, and nothing expires early, whatever the clock does, because every decision compares
 * an item's or a bucket's own time with the clock as it stands.
 *
 * <p>[1] Guochao Xie, Yeh-Ching Chung: Bucket-Based Expiration Algorithm: Improving Eviction Efficiency for In-Memory
 * Key-Value Database. MEMSYS 2020.
 * <br>[2] George Varghese, Tony Lauck: Hashed and Hierarchical Timing Wheels: Efficient Data Structures for Implementing
 * a Timer Facility. SOSP 1987.
 */
final class WheelExpiry extends Expiry {
    private final TimeBuckets[] levels;
    private final int bucketsPerLevel;

    /** Items that are placed again by this cycle, and those for the next: a cycle sees each of them once. */
    private int waitingCell;

    private int nextWaitingCell;

    /** Where the cycle stands: the level, how many of its buckets were visited, and from which on. */
    private int level;

    private int visited;
    private int firstBucket;
    private int waitingPasses;
    /** Whether something of an item is past its time still that is waiting. */
    private boolean moreOfSome;

    WheelExpiry(Setting setting) {
        super(levelsFor(setting) * setting.buckets() + 2, setting);
        bucketsPerLevel = setting.buckets();
        List<TimeBuckets> rings = new ArrayList<>();
        long widthMillis = setting.baseMillis();
        for (int i = 0; i < levelsFor(setting); i++) {
            rings.add(new TimeBuckets(widthMillis, bucketsPerLevel, i * bucketsPerLevel));
            widthMillis *= bucketsPerLevel;
        }
        levels = rings.toArray(new TimeBuckets[0]);
        waitingCell = levels.length * bucketsPerLevel;
        nextWaitingCell = waitingCell + 1;
        level = levels.length;
    }

    /** As many as it takes until the last has a bucket for every time. */
    private static int levelsFor(Setting setting) {
        int count = 1;
        for (long width = setting.baseMillis(); MAX_MILLIS / width >= setting.buckets(); width *= setting.buckets()) {
            count++;
        }
        return count;
    }

    int levelCount() {
        return levels.length;
    }

    /** A later time: the cycle meets the item at its old one, and sends it on. */
    @Override
    public boolean mayStay(long oldExpireAtMillis, long newExpireAtMillis) {
        return newExpireAtMillis >= oldExpireAtMillis;
    }

    @Override
    int cellFor(long expireAtMillis, long nowMillis) {
        if (expireAtMillis < nowMillis) {
            return nextWaitingCell;
        }
        for (int i = 0; i < levels.length; i++) {
            TimeBuckets ring = levels[i];
            long time = ring.timeOf(expireAtMillis);
            long ahead = time - ring.timeOf(nowMillis);
            if (i > 0 && ahead == 0) {
                break;
            }
            if (ahead < bucketsPerLevel) {
                int cell = ring.cellFor(time);
                if (cell != TimeBuckets.TAKEN) {
                    return cell;
                }
            }
        }
        return nextWaitingCell;
    }

    @Override
    public void beginCycle(long nowMillis) {
        startLevel(0, nowMillis);
        // What an earlier cycle had no time for comes first, then what has been waiting for this one.
        moreOfSome = false;
        waitingPasses = store.isEmpty(waitingCell) ? 1 : 2;
        if (waitingPasses == 1) {
            swapWaiting();
        }
    }

    @Override
    CycleStatus expireDue(long nowMillis) {
        while (level < levels.length) {
            if (visitLevel(nowMillis) == CycleStatus.MORE) {
                return CycleStatus.MORE;
            }
            startLevel(level + 1, nowMillis);
        }
        while (waitingPasses > 0) {
            if (sendOn(waitingCell, nowMillis) == CycleStatus.MORE) {
                return CycleStatus.MORE;
            }
            waitingPasses--;
            if (waitingPasses == 0 && moreOfSome) {
                // In turns, so that one of which much is to go does not keep others waiting.
                moreOfSome = false;
                waitingPasses = 1;
            }
            if (waitingPasses > 0) {
                swapWaiting();
            }
        }
        return CycleStatus.DONE;
    }

    /** The oldest time first: the bucket after the one of now. */
    private void startLevel(int next, long nowMillis) {
        level = next;
        visited = 0;
        if (next < levels.length) {
            TimeBuckets ring = levels[next];
            firstBucket = ring.bucketOf(ring.timeOf(nowMillis) + 1);
        }
    }

    private void swapWaiting() {
        int cell = waitingCell;
        waitingCell = nextWaitingCell;
        nextWaitingCell = cell;
    }

    /** Visits the level's buckets that were not visited in this cycle. */
    private CycleStatus visitLevel(long nowMillis) {
        TimeBuckets ring = levels[level];
        if (ring.occupied() == 0) {
            return CycleStatus.DONE;
        }
        long now = ring.timeOf(nowMillis);
        for (; visited < bucketsPerLevel; visited++) {
            int bucket = (firstBucket + visited) % bucketsPerLevel;
            long time = ring.time(bucket);
            if (time != TimeBuckets.FREE && emptyBucket(ring, bucket, time - now, nowMillis) == CycleStatus.MORE) {
                return CycleStatus.MORE;
            }
        }
        return CycleStatus.DONE;
    }

    /**
     * Empties the bucket if its hour has come: on level 0 all of it is past, but for what got a later time since.
     *
     * @param ahead its time less that of now, in buckets
     */
    private CycleStatus emptyBucket(TimeBuckets ring, int bucket, long ahead, long nowMillis) {
        int cell = ring.cell(bucket);
        boolean begun = level == 0 ? ahead < 0 : ahead <= 0;
        boolean beyondReach = ahead >= bucketsPerLevel;
        return begun || beyondReach ? sendOn(cell, nowMillis) : CycleStatus.DONE;
    }

    /** Sends each item of the cell to where it belongs now, or lets it go if it is past its time. */
    private CycleStatus sendOn(int cell, long nowMillis) {
        while (!store.isEmpty(cell)) {
            long location = store.last(cell);
            long expireAtMillis = owner.expireAtMillis(location);
            if (expireAtMillis < nowMillis) {
                if (!passLast(cell, location, expireAtMillis, nowMillis)) {
                    return CycleStatus.DONE;
                }
            } else if (!sendLast(cell, location, expireAtMillis, nowMillis)) {
                // It stays, and is seen by nobody once its time has come: the next cycle tries again.
                return CycleStatus.DONE;
            }
            if (slice.stepEndsSlice()) {
                return CycleStatus.MORE;
            }
        }
        return CycleStatus.DONE;
    }

    /** The cell's last item is past its time: it goes, or what of it is past. False if the system refuses memory. */
    private boolean passLast(int cell, long location, long oldMillis, long nowMillis) {
        long left = owner.pastItsTime(location, nowMillis);
        if (left == ExpiryOwner.GOES) {
            expireLast(cell);
            return true;
        }
        slice.hurry();
        if (left == ExpiryOwner.NEVER) {
            removeLast(cell);
            return true;
        }
        boolean sent = sendLast(cell, store.last(cell), left == ExpiryOwner.STAYS ? oldMillis : left, nowMillis);
        moreOfSome |= sent && left != ExpiryOwner.STAYS && left < nowMillis;
        return sent;
    }

    /** False if the system refuses the memory for it. */
    private boolean sendLast(int cell, long location, long expireAtMillis, long nowMillis) {
        int target = cellFor(expireAtMillis, nowMillis);
        assert target != cell : "cell " + cell + " was to be emptied";
        int entry;
        try {
            entry = store.addMoved(target, location);
        } catch (CacheFullException refused) {
            return false;
        }
        occupied(target, expireAtMillis);
        removeLast(cell);
        owner.entryMoved(location, entry);
        return true;
    }

    @Override
    void occupied(int cell, long expireAtMillis) {
        if (isTimed(cell)) {
            levels[cell / bucketsPerLevel].occupy(cell, expireAtMillis);
        }
    }

    @Override
    long vacated(int cell) {
        return isTimed(cell) ? levels[cell / bucketsPerLevel].vacate(cell) : 0;
    }

    @Override
    boolean mayHoldDue(int cell, long nowMillis) {
        return !isTimed(cell) || levels[cell / bucketsPerLevel].hasBegun(cell, nowMillis);
    }

    @Override
    boolean isAtHome(int cell, long expireAtMillis) {
        if (!isTimed(cell)) {
            return true;
        }
        TimeBuckets ring = levels[cell / bucketsPerLevel];
        return ring.time(cell % bucketsPerLevel) <= ring.timeOf(expireAtMillis);
    }

    @Override
    void checkBuckets(Consumer<String> problems) {
        for (TimeBuckets ring : levels) {
            ring.checkIntegrity(store, problems);
        }
    }

    private boolean isTimed(int cell) {
        return cell < levels.length * bucketsPerLevel;
    }
}
