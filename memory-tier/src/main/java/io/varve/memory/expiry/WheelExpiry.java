package io.varve.memory.expiry;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Time buckets with far levels: every item is found by its time, none by sampling. Guarded by the shard's lock.
 *
 * <p>Level 0 is the paper's ring of time buckets [1]. The paper leaves an item whose bucket holds another time to
 * sampling. Here such an item waits in a far level. Each level is a ring like level 0 whose buckets are NUM_BUCKETS
 * times wider, as in hierarchical timing wheels [2]. The last is so wide that any 48-bit time has a bucket of its own
 * there:
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
 * <p>An item goes to the finest level whose ring reaches it. On a far level it always goes to a period that has not
 * begun. When the period begins, the cycle empties its bucket: each item moves to a finer level, or expires if the
 * cycle is late. An item thus moves at most once per level. On level 0 it expires with its whole bucket, within BASE
 * and a cycle of its time. Two times of one level never share a bucket while both lie within its reach.
 *
 * <p>An item whose time is postponed stays where it is. When the old time comes, the cycle reads the item anyway, sees
 * the later time, and moves the item to the right bucket. A key that is rewritten repeatedly with a TTL thus costs one
 * placement for each TTL, not one for each write. An earlier time moves the entry at once.
 *
 * <p>Times do collide if cycles lag or the clock was set back: a bucket then holds a time that the ring, seen from the
 * present, does not reach. An item that finds its bucket taken tries the next coarser level. If that level's period has
 * already begun, it goes to the waiting cell. The cycle repairs this: it first expires what is due, then lifts buckets
 * beyond the reach to a coarser level, then places the waiting items again. After one whole cycle all buckets are
 * within reach. Nothing is lost, and nothing expires early, whatever the clock does, because every decision compares an
 * item's or a bucket's own time with the present clock.
 *
 * <p>[1] Guochao Xie, Yeh-Ching Chung: Bucket-Based Expiration Algorithm: Improving Eviction Efficiency for In-Memory
 * Key-Value Database. MEMSYS 2020.
 * <br>[2] George Varghese, Tony Lauck: Hashed and Hierarchical Timing Wheels: Efficient Data Structures for
 * Implementing a Timer Facility. SOSP 1987.
 */
final class WheelExpiry extends Expiry {
    private final TimeBuckets[] levels;
    private final int bucketsPerLevel;

    /** Items that this cycle places again, and those for the next: a cycle handles each of them once. */
    private int waitingCell;

    private int nextWaitingCell;

    /** The progress of the cycle: the level, the number of its visited buckets, and the first of them. */
    private int level;

    private int visited;
    private int firstBucket;
    private int waitingRounds;
    /** Whether an item in a waiting cell has more due parts. */
    private boolean hasMoreDueParts;

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

    /** As many levels as it takes until the last has a bucket for every time. */
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

    /** True for a later time: the cycle meets the item at its old time and moves it. */
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
        // Items that an earlier cycle had no time for come first, then those that wait for this cycle.
        hasMoreDueParts = false;
        waitingRounds = store.isEmpty(waitingCell) ? 1 : 2;
        if (waitingRounds == 1) {
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
        while (waitingRounds > 0) {
            if (emptyCell(waitingCell, nowMillis) == CycleStatus.MORE) {
                return CycleStatus.MORE;
            }
            waitingRounds--;
            if (waitingRounds == 0 && hasMoreDueParts) {
                // By turns, so that an item with many due parts does not delay others.
                hasMoreDueParts = false;
                waitingRounds = 1;
            }
            if (waitingRounds > 0) {
                swapWaiting();
            }
        }
        return CycleStatus.DONE;
    }

    /** The oldest time comes first: its bucket follows the present one. */
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

    /** Visits the level's buckets that this cycle has not visited. */
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
     * Empties the bucket if its time has come: on level 0 all its items are past, except those that got a later time.
     *
     * @param ahead its time less the present one, in buckets
     */
    private CycleStatus emptyBucket(TimeBuckets ring, int bucket, long ahead, long nowMillis) {
        int cell = ring.cell(bucket);
        boolean begun = level == 0 ? ahead < 0 : ahead <= 0;
        boolean beyondReach = ahead >= bucketsPerLevel;
        return begun || beyondReach ? emptyCell(cell, nowMillis) : CycleStatus.DONE;
    }

    /** Moves each item of the cell to its present cell, or expires it if it is past its time. */
    private CycleStatus emptyCell(int cell, long nowMillis) {
        while (!store.isEmpty(cell)) {
            long location = store.last(cell);
            long expireAtMillis = owner.expireAtMillis(location);
            if (expireAtMillis < nowMillis) {
                if (!expireLastDue(cell, location, expireAtMillis, nowMillis)) {
                    return CycleStatus.DONE;
                }
            } else if (!moveLast(cell, cellFor(expireAtMillis, nowMillis), location, expireAtMillis)) {
                // It stays, and is invisible once its time has come: the next cycle tries again.
                return CycleStatus.DONE;
            }
            if (slice.stepEndsSlice()) {
                return CycleStatus.MORE;
            }
        }
        return CycleStatus.DONE;
    }

    /** Expires the cell's last item, or its due parts. False if the system refuses memory. */
    private boolean expireLastDue(int cell, long location, long oldMillis, long nowMillis) {
        long left = owner.expireDue(location, nowMillis);
        if (left == ExpiryOwner.EXPIRED) {
            expireLast(cell);
            return true;
        }
        slice.forceClockCheck();
        if (left == ExpiryOwner.NEVER) {
            removeLast(cell);
            return true;
        }
        long expireAtMillis = left == ExpiryOwner.UNCHANGED ? oldMillis : left;
        boolean moved = moveLast(cell, cellFor(expireAtMillis, nowMillis), store.last(cell), expireAtMillis);
        hasMoreDueParts |= moved && left != ExpiryOwner.UNCHANGED && left < nowMillis;
        return moved;
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
